#pragma once

// Detections + truth -> average precision and what one wants to look at afterwards.

#include <cstdint>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"

namespace maskfit::evaluate {

// One picture, each given exactly once. Boxes in the same frame for both lists.
struct PictureResult {
  std::string id;
  boxes::Detections detections;
  boxes::Truths truths;
};

enum class ApMode {
  kAllPoint,   // area under the monotone precision envelope (VOC 2010+): the product's default
  kSample,     // the reference's SAMPLE: 11 points
  kIntegrate,  // the reference's INTEGRATE, with its quirk at both ends
};

struct PrPoint {
  float confidence = 0;
  double precision = 0, recall = 0;
};

struct ClassResult {
  std::string name;
  std::int64_t truths = 0;  // admitted, not ignored
  double ap = 0;            // in the chosen mode at the spec's overlap
  double ap_all_point = 0, ap_sample = 0, ap_integrate = 0;  // at the spec's overlap
  double ap50 = 0, ap75 = 0, ap50_95 = 0;                    // COCO's 101-point interpolation, continuous boxes
  std::vector<PrPoint> curve;                                // by descending confidence, at the spec's overlap
};

struct Evaluation {
  std::vector<ClassResult> classes;
  double map = 0;  // plain mean of `ap` over all classes
  double map50 = 0, map75 = 0, map50_95 = 0;
  // confusion[truth][detected], class-agnostic matching at IoU 0.5 above `confusion_threshold`; index classes.size()
  // means "nothing" (missed truth in a row, false alarm in a column).
  std::vector<std::vector<std::int64_t>> confusion;
  float confusion_threshold = 0;
  // Pictures ordered by how wrong they are: missed + false alarms + wrong class at confusion_threshold.
  struct PictureErrors {
    std::string id;
    int missed = 0, false_alarms = 0, wrong_class = 0;
    int total() const { return missed + false_alarms + wrong_class; }
  };
  std::vector<PictureErrors> worst;
  std::int64_t pictures = 0;
};

struct Options {
  ApMode mode = ApMode::kAllPoint;
  // The reference's matching: rounded coordinates, inclusive pixels, size limits (spec 6.3, 6.4). Off: continuous boxes.
  bool reference_matching = false;
};

Evaluation evaluate(const std::vector<PictureResult>& pictures, const std::vector<std::string>& class_names,
                    const spec::EvaluationConfig& config, const Options& options);

}  // namespace maskfit::evaluate
