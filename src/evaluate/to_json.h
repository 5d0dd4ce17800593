#pragma once

// An Evaluation as JSON. The keys are a promise: they are added to, not renamed.
//
//   format            "maskfit.evaluation/1"
//   pictures          number of pictures
//   ap_mode           "all_point" | "sample" | "integrate"
//   matching          "coco" | "reference"
//   map               mean of the classes' "ap", 0..1
//   map50, map75, map50_95
//                     COCO's figures, 0..1
//   confusion_threshold
//                     confidence from which detections count in the next two and in precision, recall, f1
//   confusion         {"labels": [class names..., "nothing"], "counts": [[...] one row a truth]}
//   worst             [{"id", "missed", "false_alarms", "wrong_class"}], most errors first; pictures without
//   errors left out classes           one object a class, in the model's order:
//     name, truths, truths_of_any_size, detections, overlap, ap, ap_all_point, ap_sample, ap_integrate,
//     ap50, ap75, ap50_95, precision, recall, f1
//     curve           [[confidence, precision, recall], ...] by descending confidence, thinned to at most
//     curve_points
//
// A number that does not exist (recall without truths) is null.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "evaluate/evaluate.h"

namespace maskfit::evaluate {

nlohmann::json to_json(const Evaluation& evaluation, std::size_t curve_points = 200);

// At most n points of a curve (n >= 2): both ends, and between them the last point of each equal step in
// recall, so that the drawn line does not change to the eye.
std::vector<PrPoint> thinned(const std::vector<PrPoint>& curve, std::size_t n);

}  // namespace maskfit::evaluate
