#pragma once

// Is this spec one that maskfit can work with? Everything that is wrong is reported, not only the first.

#include <google/protobuf/message.h>

#include "base/finding.h"
#include "spec/dataset_export.pb.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"
#include "spec/source.h"

namespace maskfit::spec {

enum class Purpose {
  kCheck,  // is the spec valid? What only a later command would refuse (rule `refused_at_run`) is a warning
  kRun,    // the command is about to use it: such fields are refused
};

struct CheckOptions {
  Purpose purpose = Purpose::kCheck;
  // Pictures, and with them the classes, come from elsewhere (`maskfit train DATASET`): dataset_config may be
  // incomplete, and no class needs to be listed.
  bool data_from_elsewhere = false;
  // Part of the text could not be read: what is missing may have been there, so nothing is called missing and
  // sections are not compared with each other.
  bool incomplete = false;
};

// Ranges, required fields, unsupported fields and what the sections demand of each other. kRefused: the spec
// must not be used. kWarning: it works, but hardly as meant. Places come from `source`; with an empty one
// findings have only paths. Call it before apply_defaults, so that places and "not set" are known.
base::Findings check(const Experiment& experiment, const Source& source, const CheckOptions& options = {});
base::Findings check(const DatasetExportConfig& config, const Source& source,
                     const CheckOptions& options = {});
base::Findings check(const Inference& inference, const Source& source, const CheckOptions& options = {});

// The part of the above that needs nothing but the field rules, for any message.
base::Findings check_fields(const google::protobuf::Message& message, const Source& source,
                            const CheckOptions& options = {});

// In the order of the file.
void sort_by_place(base::Findings* findings);
bool has_refused(const base::Findings& findings);
// Throws base::Error (kRefused) listing every refused finding, one a line; does nothing when there is none.
void throw_if_refused(const base::Findings& findings);

}  // namespace maskfit::spec
