#include "evaluate/evaluate.h"

#include <cmath>

#include "base/error.h"
#include "evaluate/average_precision.h"
#include "evaluate/confusion.h"
#include "evaluate/matching.h"

namespace maskfit::evaluate {
namespace {

void check_classes(const std::vector<PictureResult>& pictures, std::size_t classes) {
  for (const PictureResult& picture : pictures) {
    for (const boxes::Detection& detection : picture.detections) {
      MASKFIT_CHECK(detection.class_index >= 0 && static_cast<std::size_t>(detection.class_index) < classes,
                    "picture {} detection class {} of {}", picture.id, detection.class_index, classes);
    }
    for (const boxes::Truth& truth : picture.truths) {
      MASKFIT_CHECK(
          truth.ignore || (truth.class_index >= 0 && static_cast<std::size_t>(truth.class_index) < classes),
          "picture {} truth class {} of {}", picture.id, truth.class_index, classes);
    }
  }
}

// The ten overlaps of COCO, 0.5, 0.55, ..., 0.95, as numpy's linspace gives them.
std::vector<double> coco_overlaps() {
  std::vector<double> overlaps;
  for (int k = 0; k < 10; ++k) overlaps.push_back(0.5 + k * 0.05);
  return overlaps;
}

void fill_coco(const std::vector<PictureResult>& pictures, int class_index, const Options& options,
               ClassResult* result) {
  const std::vector<ClassMatches> matches =
      match_coco(pictures, class_index, coco_overlaps(), SizeLimits{}, options.coco_detections);
  std::vector<double> ap;
  for (const ClassMatches& of_overlap : matches) {
    const Curve curve = curve_of(of_overlap);
    ap.push_back(ap_coco(curve.precision, curve.recall));
    result->ap50_95 += ap.back() / static_cast<double>(matches.size());
  }
  result->truths_of_any_size = matches[0].truths;
  result->ap50 = ap[0];
  result->ap75 = ap[5];
}

void fill_curve(const ClassMatches& matches, ApMode mode, ClassResult* result) {
  const Curve curve = curve_of(matches);
  result->truths = matches.truths;
  result->detections = static_cast<std::int64_t>(matches.detections.size());
  result->ap_all_point = ap_all_point(curve.precision, curve.recall);
  result->ap_sample = ap_sample(curve.precision, curve.recall);
  result->ap_integrate = ap_integrate(curve.precision, curve.recall);
  switch (mode) {
    case ApMode::kAllPoint:
      result->ap = result->ap_all_point;
      break;
    case ApMode::kSample:
      result->ap = result->ap_sample;
      break;
    case ApMode::kIntegrate:
      result->ap = result->ap_integrate;
      break;
  }
  for (std::size_t i = 0; i < curve.precision.size(); ++i) {
    result->curve.push_back({matches.detections[i].confidence, curve.precision[i], curve.recall[i]});
  }
}

// Precision, recall and F1 of the detections of at least the threshold.
void fill_operating_point(float threshold, ClassResult* result) {
  for (const PrPoint& point : result->curve) {
    if (!(point.confidence >= threshold)) break;
    result->precision = point.precision;
    result->recall = std::isnan(point.recall) ? 0 : point.recall;
  }
  const double sum = result->precision + result->recall;
  result->f1 = sum > 0 ? 2 * result->precision * result->recall / sum : 0;
}

// The mean of one number over the classes that `counts` admits; 0 when it admits none.
template <typename Value, typename Counts>
double mean_over(const std::vector<ClassResult>& classes, Value value, Counts counts) {
  double sum = 0;
  double counted = 0;
  for (const ClassResult& result : classes) {
    if (!counts(result)) continue;
    sum += value(result);
    counted += 1;
  }
  return counted > 0 ? sum / counted : 0;
}

void fill_means(Evaluation* evaluation) {
  const bool reference = evaluation->options.reference_matching;
  const auto has_truths = [&](const ClassResult& result) { return reference || result.truths > 0; };
  const auto has_any = [](const ClassResult& result) { return result.truths_of_any_size > 0; };
  const std::vector<ClassResult>& classes = evaluation->classes;
  evaluation->map = mean_over(
      classes, [](const ClassResult& r) { return r.ap; }, has_truths);
  evaluation->map50 = mean_over(
      classes, [](const ClassResult& r) { return r.ap50; }, has_any);
  evaluation->map75 = mean_over(
      classes, [](const ClassResult& r) { return r.ap75; }, has_any);
  evaluation->map50_95 = mean_over(
      classes, [](const ClassResult& r) { return r.ap50_95; }, has_any);
}

}  // namespace

ApMode mode_from_spec(const spec::EvaluationConfig& config) {
  switch (config.average_precision_mode()) {
    case spec::EvaluationConfig::SAMPLE:
      return ApMode::kSample;
    case spec::EvaluationConfig::INTEGRATE:
      return ApMode::kIntegrate;
    default:
      return ApMode::kAllPoint;
  }
}

const char* mode_name(ApMode mode) {
  switch (mode) {
    case ApMode::kSample:
      return "sample";
    case ApMode::kIntegrate:
      return "integrate";
    default:
      return "all_point";
  }
}

Evaluation evaluate(const std::vector<PictureResult>& pictures, const std::vector<std::string>& class_names,
                    const spec::EvaluationConfig& config, const Options& options) {
  check_classes(pictures, class_names.size());
  Evaluation evaluation;
  evaluation.options = options;
  evaluation.pictures = static_cast<std::int64_t>(pictures.size());
  std::vector<ClassMatches> matches;
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    const int class_index = static_cast<int>(c);
    const SizeLimits limits = limits_from_spec(config, class_names[c]);
    ClassResult result;
    result.name = class_names[c];
    result.overlap = overlap_from_spec(config, class_names[c]);
    matches.push_back(options.reference_matching
                          ? match_reference(pictures, class_index, result.overlap, limits)
                          : match_coco(pictures, class_index, {&result.overlap, 1}, limits, 0).front());
    fill_curve(matches.back(), options.mode, &result);
    fill_coco(pictures, class_index, options, &result);
    evaluation.classes.push_back(std::move(result));
  }
  fill_means(&evaluation);
  evaluation.confusion_threshold =
      options.confusion_threshold ? *options.confusion_threshold : best_f1_threshold(matches);
  for (ClassResult& result : evaluation.classes)
    fill_operating_point(evaluation.confusion_threshold, &result);
  fill_confusion(pictures, static_cast<int>(class_names.size()), &evaluation);
  return evaluation;
}

}  // namespace maskfit::evaluate
