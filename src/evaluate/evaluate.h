#pragma once

// Detections + truth -> average precision and what one wants to look at afterwards.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"

namespace maskfit::evaluate {

// One picture, each given exactly once. Boxes in the same frame for both lists. The class of an ignored truth
// is not read: detections of any class may lie there.
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

// The spec's mode. SAMPLE cannot be told from unset; the spec's loader decides what unset means.
ApMode mode_from_spec(const spec::EvaluationConfig& config);
const char* mode_name(ApMode mode);  // "all_point", "sample", "integrate"

struct Options {
  ApMode mode = ApMode::kAllPoint;
  // On: the reference's matching (spec 6.3, 6.4): rounded coordinates, inclusive pixels, boxes outside the
  // size limits vanish, the best truth is looked up even if it is taken, ignored truths vanish, classes
  // without truths count as 0. Off: continuous boxes, COCO's matching; truths outside the size limits are
  // ignored like COCO's area ranges; classes without truths are left out of the means.
  bool reference_matching = false;
  // Detections below it are not in the confusion table. Unset: the confidence of the best F1 over all
  // classes.
  std::optional<float> confusion_threshold;
  // COCO's limit, by confidence, a picture and class; for ap50, ap75, ap50_95 only.
  int coco_detections = 100;
};

// Precision and recall over the detections of at least this confidence. Recall is NaN without truths.
struct PrPoint {
  float confidence = 0;
  double precision = 0, recall = 0;
};

struct ClassResult {
  std::string name;
  std::int64_t truths = 0;                                   // admitted, not ignored
  std::int64_t truths_of_any_size = 0;                       // not ignored
  std::int64_t detections = 0;                               // admitted, not ignored
  double overlap = 0.5;                                      // the spec's, from which a truth counts as found
  double ap = 0;                                             // in the chosen mode at the spec's overlap
  double ap_all_point = 0, ap_sample = 0, ap_integrate = 0;  // at the spec's overlap
  double ap50 = 0, ap75 = 0, ap50_95 = 0;                    // COCO's 101 points, continuous boxes, all sizes
  double precision = 0, recall = 0, f1 = 0;                  // at confusion_threshold
  std::vector<PrPoint> curve;  // by descending confidence, at the spec's overlap
};

struct Evaluation {
  Options options;
  std::vector<ClassResult> classes;
  double map = 0;  // mean of `ap`: over classes with truths; with reference_matching over all classes
  double map50 = 0, map75 = 0, map50_95 = 0;  // means over classes with truths
  // confusion[truth][detected], class-agnostic matching at IoU 0.5 above `confusion_threshold`; index
  // classes.size() means "nothing" (missed truth in its column, false alarm in its row).
  std::vector<std::vector<std::int64_t>> confusion;
  float confusion_threshold = 0;
  // All pictures, the most wrong first: missed + false alarms + wrong class at confusion_threshold; ties by
  // id.
  struct PictureErrors {
    std::string id;
    std::size_t index = 0;  // place in the list given to evaluate()
    int missed = 0, false_alarms = 0, wrong_class = 0;
    int total() const { return missed + false_alarms + wrong_class; }
  };
  std::vector<PictureErrors> worst;
  std::int64_t pictures = 0;
};

// A class without an overlap entry is matched at 0.5; one without a size entry has no size limits (a maximum
// of 0 is no limit either). REQUIRES class indices of detections and of truths that are not ignored in [0,
// class_names.size()).
Evaluation evaluate(const std::vector<PictureResult>& pictures, const std::vector<std::string>& class_names,
                    const spec::EvaluationConfig& config, const Options& options);

}  // namespace maskfit::evaluate
