#include "evaluate/to_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace maskfit::evaluate {
namespace {

using nlohmann::json;

json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json curve_json(const std::vector<PrPoint>& curve) {
  json points = json::array();
  for (const PrPoint& point : curve) {
    points.push_back({number(point.confidence), number(point.precision), number(point.recall)});
  }
  return points;
}

json class_json(const ClassResult& result, std::size_t curve_points) {
  return {{"name", result.name},
          {"truths", result.truths},
          {"truths_of_any_size", result.truths_of_any_size},
          {"detections", result.detections},
          {"overlap", number(result.overlap)},
          {"ap", number(result.ap)},
          {"ap_all_point", number(result.ap_all_point)},
          {"ap_sample", number(result.ap_sample)},
          {"ap_integrate", number(result.ap_integrate)},
          {"ap50", number(result.ap50)},
          {"ap75", number(result.ap75)},
          {"ap50_95", number(result.ap50_95)},
          {"precision", number(result.precision)},
          {"recall", number(result.recall)},
          {"f1", number(result.f1)},
          {"curve", curve_json(thinned(result.curve, curve_points))}};
}

}  // namespace

std::vector<PrPoint> thinned(const std::vector<PrPoint>& curve, std::size_t n) {
  MASKFIT_CHECK(n >= 2, "n={}", n);
  if (curve.size() <= n) return curve;
  const double last_recall = curve.back().recall;
  const double step = last_recall > 0 ? last_recall / static_cast<double>(n - 2) : 0;
  std::vector<PrPoint> points = {curve.front()};
  double wanted = step;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    if (step > 0 && curve[i + 1].recall > wanted && curve[i].recall < last_recall) {
      points.push_back(curve[i]);
      while (wanted < curve[i + 1].recall) wanted += step;
    }
  }
  points.push_back(curve.back());
  return points;
}

json to_json(const Evaluation& evaluation, std::size_t curve_points) {
  json labels = json::array();
  json classes = json::array();
  for (const ClassResult& result : evaluation.classes) {
    labels.push_back(result.name);
    classes.push_back(class_json(result, curve_points));
  }
  labels.push_back("nothing");
  json worst = json::array();
  for (const auto& picture : evaluation.worst) {
    if (picture.total() == 0) break;
    worst.push_back({{"id", picture.id},
                     {"missed", picture.missed},
                     {"false_alarms", picture.false_alarms},
                     {"wrong_class", picture.wrong_class}});
  }
  return {{"format", "maskfit.evaluation/1"},
          {"pictures", evaluation.pictures},
          {"ap_mode", mode_name(evaluation.options.mode)},
          {"matching", evaluation.options.reference_matching ? "reference" : "coco"},
          {"map", number(evaluation.map)},
          {"map50", number(evaluation.map50)},
          {"map75", number(evaluation.map75)},
          {"map50_95", number(evaluation.map50_95)},
          {"confusion_threshold", number(evaluation.confusion_threshold)},
          {"confusion", {{"labels", labels}, {"counts", evaluation.confusion}}},
          {"worst", worst},
          {"classes", classes}};
}

}  // namespace maskfit::evaluate
