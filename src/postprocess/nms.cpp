#include "postprocess/nms.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace maskfit::postprocess {

std::vector<Kept> nms(std::span<const boxes::Box> boxes, std::span<const float> scores, float iou_threshold,
                      float confidence_threshold) {
  MASKFIT_CHECK(boxes.size() == scores.size(), "boxes {} scores {}", boxes.size(), scores.size());
  const std::size_t n = boxes.size();
  // A selection sort in place, as the reference does it: the swaps decide the order among equal scores.
  std::vector<float> score(scores.begin(), scores.end());
  std::vector<int> index(n);
  std::iota(index.begin(), index.end(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto best = std::max_element(score.begin() + i, score.end());  // the first of equal ones
    if (*best <= 0) break;                                               // only suppressed boxes are left
    const std::size_t j = static_cast<std::size_t>(best - score.begin());
    std::swap(score[i], score[j]);
    std::swap(index[i], index[j]);
    const boxes::Box& kept = boxes[index[i]];
    for (std::size_t k = i + 1; k < n; ++k) {
      if (score[k] > 0 && boxes::iou_inclusive(kept, boxes[index[k]]) > iou_threshold) score[k] = 0;
    }
  }
  std::vector<Kept> kept;
  for (std::size_t i = 0; i < n; ++i) {
    if (score[i] > confidence_threshold) kept.push_back({index[i], score[i], score[index[i]]});
  }
  return kept;
}

boxes::Box voted_box(const Candidates& candidates, int index, float vote_iou) {
  const boxes::Box& kept = candidates.boxes_in_network[index];
  double sum = 0;
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  for (std::size_t i = 0; i < candidates.coverage.size(); ++i) {
    const boxes::Box& box = candidates.boxes_in_network[i];
    if (static_cast<int>(i) != index && boxes::iou(kept, box) < vote_iou) continue;
    const double weight = candidates.coverage[i];
    sum += weight;
    x1 += weight * box.x1;
    y1 += weight * box.y1;
    x2 += weight * box.x2;
    y2 += weight * box.y2;
  }
  if (sum <= 0) return kept;
  return {static_cast<float>(x1 / sum), static_cast<float>(y1 / sum), static_cast<float>(x2 / sum),
          static_cast<float>(y2 / sum)};
}

}  // namespace maskfit::postprocess
