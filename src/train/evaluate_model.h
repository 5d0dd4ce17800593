#pragma once

// A model file over a dataset: what `maskfit evaluate` does.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "loader/picture_set.h"
#include "network/model_file.h"
#include "spec/experiment.pb.h"
#include "train/validation.h"

namespace maskfit::train {

struct EvaluateRequest {
  std::filesystem::path model, data;
  // "train", "val", "test", "all"; "": val where the data has one, else all.
  std::string split;
  std::optional<std::filesystem::path>
      spec_file;  // evaluation, postprocessing and mapping from here, not the model
  std::string device = "cpu", precision = "fp32";
  bool reference_exact = false;   // the spec's AP mode and the reference's matching, quirks included
  std::int64_t max_pictures = 0;  // of these only so many, evenly spread; 0: all
  base::StopToken stop;
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

struct EvaluatedModel {
  spec::Experiment experiment;
  std::string split;  // as used
  std::unique_ptr<loader::PictureSet> pictures;
  Validation validation;
};

// A dataset read once, for several networks that see and say the same as one model: itself, itself pruned.
class Evaluator {
 public:
  // `model` is not kept. Throws as evaluate_model().
  Evaluator(EvaluateRequest request, const network::Model& model);
  ~Evaluator();

  Validation evaluate(network::Network network) const;
  std::int64_t pictures() const;

 private:
  friend EvaluatedModel evaluate_model(const EvaluateRequest& request);
  EvaluateRequest request_;
  EvaluatedModel data_;  // without its validation
  std::map<std::string, std::int64_t> unmapped_labels_;
};

// All-point AP unless reference_exact. Throws base::Error (kRefused) when the split is empty, when model and
// spec disagree about the classes, or when an output of the network is not finite.
EvaluatedModel evaluate_model(const EvaluateRequest& request);

// The figures as one JSON object: mAP, mAP_sample, mAP_integrate, mAP50, mAP75, mAP50_95, classes, confusion,
// ...
std::string evaluation_json(const Validation& validation);
// The same for a person: a table of the classes and the means.
std::string evaluation_table(const evaluate::Evaluation& evaluation);

}  // namespace maskfit::train
