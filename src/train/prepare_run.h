#pragma once

// From a command line to everything a training needs, in an order that leaves no run folder behind when the
// request, the data or the spec is refused.

#include <filesystem>
#include <optional>
#include <string>

#include "base/files.h"
#include "loader/picture_set.h"
#include "runs/run_folder.h"
#include "spec/experiment.pb.h"
#include "train/run_request.h"
#include "train/training_data.h"

namespace maskfit::train {

struct RunPlace {
  std::filesystem::path data;  // DATASET; empty: dataset_config.data_sources of the spec file
  std::filesystem::path out;   // the run folder
  bool resume = false;         // go on with the run that lies there
  base::Overwrite overwrite = base::Overwrite::kRefuse;
  std::string device;  // what will be trained on, see require_machine.h; empty: not asked for here
};

struct PreparedRun {
  spec::Experiment experiment;  // effective: checked, with defaults
  TrainingData data;
  loader::ClassMapping classes;
  runs::RunFolder folder;  // locked; holds the effective spec
};

// Throws base::Error: kUsage for options that do not fit together, kRefused for spec and data, kMachine for
// what this machine cannot do, kFailed for the folder.
PreparedRun prepare_run(const RunRequest& request, const RunPlace& place);

// The same on another rank than the first: the spec is the first one's, as text, the data is opened here, and
// nothing is written. `request` says where a spec file lies, whose folder relative paths of data start at.
PreparedRun prepare_rank(const RunRequest& request, const RunPlace& place, const std::string& spec_text);

// "runs/<name of the data>-<date>-<time>", where nothing lies yet.
std::filesystem::path default_run_folder(const std::filesystem::path& data);

}  // namespace maskfit::train
