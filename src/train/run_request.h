#pragma once

// From the words of a command line to the effective spec of a run.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "spec/experiment.pb.h"
#include "targets/rasterise.h"

namespace maskfit::train {

// What the user said; everything may be left out.
struct RunRequest {
  std::optional<std::filesystem::path> spec_file;
  std::string recipe;  // "tlt", "scratch"; "": the spec's, or scratch
  // A model whose network and weights are trained on (model_config.load_graph), pruned or not. Without
  // spec_file and recipe its own spec is where the draft begins.
  std::optional<std::filesystem::path> from;
  std::optional<std::filesystem::path> teacher;  // a model to learn from beside the labels
  std::optional<std::string> backbone;           // "resnet18"
  std::optional<std::string> size;               // "960x544"
  std::optional<std::string> precision;          // "fp32", "bf16", "fp16"
  std::optional<std::int64_t> epochs, batch, seed;
  int ranks = 1;  // that share a step; the recipe scratch adapts to the pictures of all
  std::vector<std::string> assignments;  // "training_config.num_epochs=5", applied last
};

// The recipe (or the file, or the spec of the model `from`), then the options, then the assignments, then the
// defaults of what is still unset; checked.
//   class_names: of the data, for a spec that lists no classes
//   data_given: the data is named on the command line, dataset_config need not be complete
// What `spec check` warns of, a field without effect say, is added to `warnings` (may be null). Throws
// base::Error (kUsage) for a malformed option, (kRefused) listing everything that is wrong with the spec.
spec::Experiment effective_experiment(const RunRequest& request, const std::vector<std::string>& class_names,
                                      bool data_given, base::Findings* warnings = nullptr);

// What `request` changes in the spec of a run that is to be resumed. Throws base::Error (kUsage) naming the
// fields when it is more than the number of epochs, the batch (a checkpoint counts pictures), the threads or
// how often is validated and saved: anything
// else would not continue that run.
spec::Experiment resumed_experiment(const spec::Experiment& stored, const RunRequest& request,
                                    const std::vector<std::string>& class_names, bool data_given,
                                    base::Findings* warnings = nullptr);

// Where the box head's numbers live: model_config.objective_set.bbox.
targets::BoxCoding box_coding(const spec::Experiment& experiment);

// The names of target_classes, in their order.
std::vector<std::string> class_names_of(const spec::Experiment& experiment);

}  // namespace maskfit::train
