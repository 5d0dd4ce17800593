#pragma once

// From what a file says to what it means.

#include <google/protobuf/message.h>

namespace maskfit::spec {

// Fills in what the field rules say an unset field means, in `message` and all its sections; sections that
// are unset and have a default are created. Moves values from outdated places to where the product looks for
// them:
//   classwise_bbox_handler_config.confidence_threshold (TLT 2.0) ->
//   clustering_config.dbscan_confidence_threshold model_config.training_precision FLOAT16 ->
//   training_config.precision FP16
// Idempotent. Call check() before: it wants to know what was set.
void apply_defaults(google::protobuf::Message* message);

}  // namespace maskfit::spec
