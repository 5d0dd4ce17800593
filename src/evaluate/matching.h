#pragma once

// Which detection found which truth. One class at a time, over all pictures.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "evaluate/evaluate.h"

namespace maskfit::evaluate {

// Sizes that count, pixels, both ends included.
struct SizeLimits {
  double min_width = 0, min_height = 0;
  double max_width = std::numeric_limits<double>::infinity();
  double max_height = std::numeric_limits<double>::infinity();

  bool admits(const boxes::Box& box) const;
};

// The spec's limits of a class; none without an entry, and a maximum of 0 is no limit.
SizeLimits limits_from_spec(const spec::EvaluationConfig& config, const std::string& class_name);
// The spec's overlap of a class; 0.5 without an entry.
double overlap_from_spec(const spec::EvaluationConfig& config, const std::string& class_name);

struct ScoredDetection {
  float confidence = 0;
  bool found = false;  // true positive
};

struct ClassMatches {
  std::int64_t truths = 0;                  // that count
  std::vector<ScoredDetection> detections;  // that count, by descending confidence, ties in picture order
};

// The reference's matching (spec 6.3, 6.4). Ignored truths are left out.
ClassMatches match_reference(std::span<const PictureResult> pictures, int class_index, double overlap,
                             const SizeLimits& limits);

// COCO's matching, as in pycocotools' evaluateImg and accumulate, for several overlaps at once (one result
// each). Truths outside the limits are ignored, and so are unmatched detections outside them. An ignored
// truth is a crowd region for every class: any number of detections may lie in it, measured by the share of
// the detection that does. max_detections: the most confident ones of each picture that take part; 0: all.
std::vector<ClassMatches> match_coco(std::span<const PictureResult> pictures, int class_index,
                                     std::span<const double> overlaps, const SizeLimits& limits,
                                     int max_detections);

// Precision and recall after each detection; recall is NaN without truths.
struct Curve {
  std::vector<double> precision, recall;
};
Curve curve_of(const ClassMatches& matches);

}  // namespace maskfit::evaluate
