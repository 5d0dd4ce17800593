#pragma once

// Validation: detections of every picture of the validation part, their AP, and why it is 0 when it is.

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "evaluate/evaluate.h"
#include "loader/picture_set.h"
#include "model/detector.h"
#include "ranks/group.h"
#include "spec/experiment.pb.h"
#include "train/detect_all.h"

namespace maskfit::train {

struct Validation {
  evaluate::Evaluation evaluation;
  DetectedSet detected;
  std::vector<std::string> diagnosis;  // empty unless some class has AP 0
  double seconds = 0;
};

struct ValidationOptions {
  bool reference_exact = false;
  base::StopToken stop;
  // Labels of these pictures that no class takes, for the diagnosis.
  std::map<std::string, std::int64_t> unmapped_labels;
  // These as in DetectOptions.
  std::function<at::Tensor(const model::Outputs& outputs, std::int64_t first, std::int64_t count)> cost;
  const PlainPixels* pixels = nullptr;
  std::function<void(std::int64_t done, std::int64_t total)> progress;
  ranks::Group* group = nullptr;  // as DetectOptions::group
};

// With a group only rank 0 has an evaluation. The class names, postprocessing, evaluation and box coding are
// those of the spec.
Validation validate(model::Detector& detector, const loader::PictureSet& pictures,
                    const spec::Experiment& experiment, const ValidationOptions& options);

// A validation whose boxes and figures are made on other threads, once the network has run. The same figures.
class PendingValidation {
 public:
  // pictures and experiment must outlive it.
  PendingValidation(model::Detector& detector, const loader::PictureSet& pictures,
                    const spec::Experiment& experiment, const ValidationOptions& options);

  bool ready() const;
  // Waits for it; once. Rethrows what went wrong.
  Validation take() { return result_.get(); }

 private:
  std::future<Validation> result_;  // waits in its destructor
};

// "The network's outputs are not finite numbers, first for the picture 'a.jpg'". REQUIRES that there is such
// a picture.
std::string non_finite_sentence(const Validation& validation);

// Whether a validation follows epoch `epoch` (1-based): at first_validation_epoch, every validation_period
// epochs after it, and after the last one.
bool validation_is_due(std::int64_t epoch, std::int64_t epochs, const spec::EvaluationConfig& config);

// The confidence of the best F1 on the curve of a class; 0 for a class without detections.
float best_f1_confidence(const evaluate::ClassResult& result);

}  // namespace maskfit::train
