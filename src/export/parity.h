#pragma once

// Do two implementations of a network give the same boxes? The same pixels, nvinfer's decoding and
// clustering, then box by box and as average precision.

#include <string>
#include <vector>

#include "base/finding.h"
#include "evaluate/evaluate.h"
#include "export/deepstream.h"
#include "export/pictures.h"

namespace maskfit::exporting {

struct Tolerances {
  double box_px = 1;         // of the network's input; real numbers
  double confidence = 0.01;  // real numbers
  double ap_points = 0.5;    // integers; points of 100
};

// One implementation over all pictures.
struct Variant {
  std::string name;                            // "trained", "fp32", "int8"
  std::vector<evaluate::PictureResult> found;  // at the configuration's thresholds
  evaluate::Evaluation evaluation;             // of everything above a low threshold, IoU 0.5, all points
};

// Counts the boxes that have no partner: same class, IoU of at least 0.5 or the same place, nearest first.
struct Difference {
  double box_px = 0;       // largest move of an edge
  double confidence = 0;   // largest change
  std::int64_t boxes = 0;  // of the reference
  std::int64_t lost = 0, added = 0;
  // Boxes within `confidence` tolerance of their class's threshold may come and go; they are counted here
  // instead.
  std::int64_t at_threshold = 0;
};

// Runs every picture through `forward`, eight at a time. change: applied to the pixels first (what a device's
// configuration makes of them), may be empty.
Variant run_variant(const std::string& name, const Forward& forward, const PictureSource& pictures,
                    const NvinferConfig& rules, const std::vector<std::string>& class_names,
                    const std::function<void(std::vector<float>&)>& change = {});

Difference difference(const Variant& reference, const Variant& other, const NvinferConfig& rules,
                      const Tolerances& tolerances);

// The mean over classes with truths of the best F1 on their curves: how good a detector is at its best
// thresholds.
double best_f1(const evaluate::Evaluation& evaluation);

// `forward` asked once for every picture, in the order of run_variant(); afterwards the same answers again
// and again, so that rules can be tried out without the network. REQUIRES the same pictures each time.
Forward remembered(const Forward& forward, std::int64_t pictures);

// Confidence of the best F1 of each class on its precision-recall curve; `otherwise` for a class without
// truths.
std::vector<float> best_thresholds(const evaluate::Evaluation& evaluation, float otherwise);

// Where two executors of networks with the same layers part: the first layer whose output differs by more
// than `share` of its largest magnitude, over a few pictures. "" when none does.
struct LayerDifference {
  std::string layer;
  double share = 0;  // largest difference / largest magnitude
};
LayerDifference first_difference(const Executor& reference, const Executor& other,
                                 const PictureSource& pictures, double share);
// The largest difference of every layer that both have, in order.
std::vector<LayerDifference> layer_differences(const Executor& reference, const Executor& other,
                                               const PictureSource& pictures);

}  // namespace maskfit::exporting
