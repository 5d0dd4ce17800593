#pragma once

// One field from the command line: --set training_config.num_epochs=5

#include <google/protobuf/message.h>

#include <string_view>

#include "base/finding.h"
#include "spec/source.h"

namespace maskfit::spec {

// `assignment` is PATH=VALUE. The path names fields as source.h does; an entry of a map is made when it is
// not there; an entry of a list of sections is named by its place or its `name` field:
//   training_config.num_epochs=5
//   model_config.arch=resnet                                   (text needs no quotes here)
//   model_config.freeze_blocks=[0, 1]                          (replaces the list)
//   cost_function_config.target_classes[mask].class_weight=4
//   postprocessing_config.target_class_config[mask].clustering_config.dbscan_eps=0.2
//   training_config.regularizer={type: L2 weight: 1e-5}        (merged into the section)
// Returns what is wrong, with "--set PATH=VALUE" as the file; then the message is as before. Ranges are
// check()'s.
base::Findings set_field(google::protobuf::Message* message, std::string_view assignment, Source* source);

}  // namespace maskfit::spec
