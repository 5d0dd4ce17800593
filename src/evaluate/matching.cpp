#include "evaluate/matching.h"

#include <algorithm>
#include <cmath>

namespace maskfit::evaluate {
namespace {

struct Rect {
  double x1, y1, x2, y2;
};

Rect exact(const boxes::Box& box) {
  return {box.x1, box.y1, box.x2, box.y2};
}

// To whole pixels, halves to even (the default rounding mode).
Rect rounded(const boxes::Box& box) {
  return {std::nearbyint(box.x1), std::nearbyint(box.y1), std::nearbyint(box.x2), std::nearbyint(box.y2)};
}

double intersection(const Rect& a, const Rect& b, double one) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + one;
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + one;
  return std::max(width, 0.0) * std::max(height, 0.0);
}

double area(const Rect& r, double one) {
  return (r.x2 - r.x1 + one) * (r.y2 - r.y1 + one);
}

double iou_of_pixels(const Rect& a, const Rect& b) {
  const double common = intersection(a, b, 1);
  return common / (area(a, 1) + area(b, 1) - common);
}

// Of a crowd region only the share of the detection that lies in it counts.
double coco_iou(const Rect& detection, const Rect& truth, bool crowd) {
  const double common = intersection(detection, truth, 0);
  const double all = crowd ? area(detection, 0) : area(detection, 0) + area(truth, 0) - common;
  return all > 0 ? common / all : 0;
}

void sort_by_confidence(std::vector<ScoredDetection>& detections) {
  std::stable_sort(
      detections.begin(), detections.end(),
      [](const ScoredDetection& a, const ScoredDetection& b) { return a.confidence > b.confidence; });
}

// Detections of one class in one picture, by descending confidence.
std::vector<boxes::Detection> of_class(const PictureResult& picture, int class_index, int max_detections) {
  std::vector<boxes::Detection> list;
  std::copy_if(picture.detections.begin(), picture.detections.end(), std::back_inserter(list),
               [&](const boxes::Detection& d) { return d.class_index == class_index; });
  std::stable_sort(list.begin(), list.end(), [](const boxes::Detection& a, const boxes::Detection& b) {
    return a.confidence > b.confidence;
  });
  if (max_detections > 0 && list.size() > static_cast<std::size_t>(max_detections))
    list.resize(max_detections);
  return list;
}

struct CocoTruth {
  Rect rect;
  bool crowd = false;    // may be matched many times
  bool ignored = false;  // a match with it is neither right nor wrong
};

// Those that count first, as COCO's matching needs it.
std::vector<CocoTruth> coco_truths(const PictureResult& picture, int class_index, const SizeLimits& limits) {
  std::vector<CocoTruth> truths;
  for (const boxes::Truth& truth : picture.truths) {
    if (truth.ignore) {
      truths.push_back({exact(truth.box), true, true});
    } else if (truth.class_index == class_index) {
      truths.push_back({exact(truth.box), false, !limits.admits(truth.box)});
    }
  }
  std::stable_partition(truths.begin(), truths.end(), [](const CocoTruth& truth) { return !truth.ignored; });
  return truths;
}

// One picture and class, ready for any overlap.
struct CocoPicture {
  std::vector<boxes::Detection> detections;
  std::vector<CocoTruth> truths;
  std::vector<double> iou;  // [detections][truths]

  CocoPicture(const PictureResult& picture, int class_index, const SizeLimits& limits, int max_detections)
      : detections(of_class(picture, class_index, max_detections)),
        truths(coco_truths(picture, class_index, limits)) {
    iou.reserve(detections.size() * truths.size());
    for (const boxes::Detection& detection : detections) {
      for (const CocoTruth& truth : truths) {
        iou.push_back(coco_iou(exact(detection.box), truth.rect, truth.crowd));
      }
    }
  }

  // The best truth that is still free for detection d, or -1. A truth that counts is preferred to an ignored
  // one; of equal overlaps the later truth wins.
  int best_truth(std::size_t d, double overlap, const std::vector<bool>& taken) const {
    double best_iou = std::min(overlap, 1 - 1e-10);
    int best = -1;
    for (std::size_t t = 0; t < truths.size(); ++t) {
      if (taken[t] && !truths[t].crowd) continue;
      if (best >= 0 && !truths[best].ignored && truths[t].ignored) break;
      const double value = iou[d * truths.size() + t];
      if (value < best_iou) continue;
      best_iou = value;
      best = static_cast<int>(t);
    }
    return best;
  }

  void match(double overlap, const SizeLimits& limits, ClassMatches* matches) const {
    std::vector<bool> taken(truths.size());
    for (std::size_t d = 0; d < detections.size(); ++d) {
      const int truth = best_truth(d, overlap, taken);
      if (truth >= 0) taken[truth] = true;
      const bool ignored = truth >= 0 ? truths[truth].ignored : !limits.admits(detections[d].box);
      if (!ignored) matches->detections.push_back({detections[d].confidence, truth >= 0});
    }
    matches->truths +=
        std::count_if(truths.begin(), truths.end(), [](const CocoTruth& t) { return !t.ignored; });
  }
};

}  // namespace

bool SizeLimits::admits(const boxes::Box& box) const {
  const double width = static_cast<double>(box.x2) - box.x1;
  const double height = static_cast<double>(box.y2) - box.y1;
  return min_width <= width && width <= max_width && min_height <= height && height <= max_height;
}

SizeLimits limits_from_spec(const spec::EvaluationConfig& config, const std::string& class_name) {
  SizeLimits limits;
  const auto entry = config.evaluation_box_config().find(class_name);
  if (entry == config.evaluation_box_config().end()) return limits;
  limits.min_width = entry->second.minimum_width();
  limits.min_height = entry->second.minimum_height();
  if (entry->second.maximum_width() > 0) limits.max_width = entry->second.maximum_width();
  if (entry->second.maximum_height() > 0) limits.max_height = entry->second.maximum_height();
  return limits;
}

double overlap_from_spec(const spec::EvaluationConfig& config, const std::string& class_name) {
  const auto entry = config.minimum_detection_ground_truth_overlap().find(class_name);
  return entry == config.minimum_detection_ground_truth_overlap().end() ? 0.5 : entry->second;
}

ClassMatches match_reference(std::span<const PictureResult> pictures, int class_index, double overlap,
                             const SizeLimits& limits) {
  struct Candidate {
    float confidence;
    Rect rect;
    std::size_t picture;
  };
  ClassMatches matches;
  std::vector<Candidate> candidates;
  std::vector<std::vector<Rect>> truths(pictures.size());
  std::vector<std::vector<bool>> taken(pictures.size());
  for (std::size_t p = 0; p < pictures.size(); ++p) {
    for (const boxes::Truth& truth : pictures[p].truths) {
      if (truth.ignore || truth.class_index != class_index || !limits.admits(truth.box)) continue;
      truths[p].push_back(rounded(truth.box));
    }
    taken[p].resize(truths[p].size());
    matches.truths += static_cast<std::int64_t>(truths[p].size());
    for (const boxes::Detection& detection : pictures[p].detections) {
      if (detection.class_index != class_index || !limits.admits(detection.box)) continue;
      candidates.push_back({detection.confidence, rounded(detection.box), p});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.confidence > b.confidence; });
  for (const Candidate& candidate : candidates) {
    const std::vector<Rect>& of_picture = truths[candidate.picture];
    double best_iou = -1;
    std::size_t best = 0;
    for (std::size_t t = 0; t < of_picture.size(); ++t) {
      const double value = iou_of_pixels(candidate.rect, of_picture[t]);
      if (value > best_iou) {
        best_iou = value;
        best = t;
      }
    }
    // No second choice: when the best truth is taken, the detection is wrong.
    const bool found = best_iou >= overlap && !taken[candidate.picture][best];
    if (found) taken[candidate.picture][best] = true;
    matches.detections.push_back({candidate.confidence, found});
  }
  return matches;
}

std::vector<ClassMatches> match_coco(std::span<const PictureResult> pictures, int class_index,
                                     std::span<const double> overlaps, const SizeLimits& limits,
                                     int max_detections) {
  std::vector<ClassMatches> matches(overlaps.size());
  for (const PictureResult& result : pictures) {
    const CocoPicture picture(result, class_index, limits, max_detections);
    for (std::size_t i = 0; i < overlaps.size(); ++i) picture.match(overlaps[i], limits, &matches[i]);
  }
  for (ClassMatches& of_overlap : matches) sort_by_confidence(of_overlap.detections);
  return matches;
}

Curve curve_of(const ClassMatches& matches) {
  Curve curve;
  double found = 0;
  for (std::size_t i = 0; i < matches.detections.size(); ++i) {
    found += matches.detections[i].found ? 1 : 0;
    curve.precision.push_back(found / static_cast<double>(i + 1));
    curve.recall.push_back(found / static_cast<double>(matches.truths));  // 0/0: NaN without truths
  }
  return curve;
}

}  // namespace maskfit::evaluate
