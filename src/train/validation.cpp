#include "train/validation.h"

#include <fmt/format.h>

#include <chrono>

#include "evaluate/diagnose.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {

DetectOptions detect_options(const spec::Experiment& experiment, const ValidationOptions& options) {
  DetectOptions detect;
  detect.batch = static_cast<int>(experiment.training_config().batch_size_per_gpu());
  detect.class_names = class_names_of(experiment);
  detect.postprocessing = experiment.postprocessing_config();
  detect.coding = box_coding(experiment);
  detect.reference_exact = options.reference_exact;
  detect.stop = options.stop;
  detect.cost = options.cost;
  detect.pixels = options.pixels;
  detect.progress = options.progress;
  detect.group = options.group;
  return detect;
}

// What the detections are worth.
Validation judged(DetectedSet detected, const spec::Experiment& experiment,
                  const ValidationOptions& options) {
  const std::vector<std::string> class_names = class_names_of(experiment);
  const spec::EvaluationConfig& config = experiment.evaluation_config();
  Validation validation;
  validation.detected = std::move(detected);
  if (options.group && !options.group->is_first()) return validation;
  validation.evaluation = evaluate::evaluate(validation.detected.pictures, class_names, config,
                                             {.mode = evaluate::mode_from_spec(config),
                                              .reference_matching = options.reference_exact,
                                              .confusion_threshold = {}});
  validation.diagnosis = evaluate::diagnose({.pictures = validation.detected.pictures,
                                             .class_names = class_names,
                                             .config = config,
                                             .evaluation = validation.evaluation,
                                             .geometry = validation.detected.geometry,
                                             .unmapped_labels = options.unmapped_labels,
                                             .signals = validation.detected.signals});
  if (!validation.detected.non_finite_picture.empty()) {
    validation.diagnosis = {
        fmt::format("{}; what the figures say is worth nothing.", non_finite_sentence(validation))};
  }
  return validation;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Validation validate(model::Detector& detector, const loader::PictureSet& pictures,
                    const spec::Experiment& experiment, const ValidationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Validation validation =
      judged(detect_all(detector, pictures, detect_options(experiment, options)), experiment, options);
  validation.seconds = seconds_since(start);
  return validation;
}

PendingValidation::PendingValidation(model::Detector& detector, const loader::PictureSet& pictures,
                                     const spec::Experiment& experiment, const ValidationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  PendingDetections pending(detector, pictures, detect_options(experiment, options));
  result_ =
      std::async(std::launch::async, [start, pending = std::move(pending), &experiment, options]() mutable {
        Validation validation = judged(pending.finish(), experiment, options);
        validation.seconds = seconds_since(start);
        return validation;
      });
}

bool PendingValidation::ready() const {
  return result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::string non_finite_sentence(const Validation& validation) {
  return fmt::format("The network's outputs are not finite numbers, first for the picture '{}'",
                     validation.detected.non_finite_picture);
}

bool validation_is_due(std::int64_t epoch, std::int64_t epochs, const spec::EvaluationConfig& config) {
  const std::int64_t first = config.first_validation_epoch();
  const std::int64_t period = config.validation_period_during_training();
  return epoch == epochs || (epoch >= first && (epoch - first) % period == 0);
}

float best_f1_confidence(const evaluate::ClassResult& result) {
  float best = 0;
  double best_f1 = 0;
  for (const evaluate::PrPoint& point : result.curve) {
    const double sum = point.precision + point.recall;
    const double f1 = sum > 0 ? 2 * point.precision * point.recall / sum : 0;  // false for NaN, too
    if (f1 > best_f1) {
      best_f1 = f1;
      best = point.confidence;
    }
  }
  return best;
}

}  // namespace maskfit::train
