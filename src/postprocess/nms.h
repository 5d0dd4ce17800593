#pragma once

// Greedy non-maximum suppression (spec 7.4), and box voting after Gidaris and Komodakis, "Object detection
// via a multi-region & semantic segmentation-aware CNN model", ICCV 2015, section 5.

#include <span>
#include <vector>

#include "postprocess/postprocess.h"

namespace maskfit::postprocess {

struct Kept {
  int index = 0;    // place in the candidates
  float score = 0;  // its coverage
  // What the reference reports instead: it reads the score array, which it has permuted, at the old place, so
  // this can be another box' score or 0.
  float reference_score = 0;
};

// In processing order (descending score; among equal scores, the order that the reference's selection sort
// yields). A box is dropped when iou_inclusive with a kept one > iou_threshold. Kept: score >
// confidence_threshold.
std::vector<Kept> nms(std::span<const boxes::Box> boxes, std::span<const float> scores, float iou_threshold,
                      float confidence_threshold);

// The mean, weighted by coverage, of all candidates whose (continuous) IoU with candidate `index` is at least
// vote_iou; the candidate itself always votes.
boxes::Box voted_box(const Candidates& candidates, int index, float vote_iou);

}  // namespace maskfit::postprocess
