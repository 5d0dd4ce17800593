#include "evaluate/confusion.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace maskfit::evaluate {
namespace {

constexpr float kOverlap = 0.5f;

bool in_ignored(const boxes::Box& box, const boxes::Truths& truths) {
  return std::any_of(truths.begin(), truths.end(), [&](const boxes::Truth& truth) {
    return truth.ignore && box.area() > 0 &&
           boxes::intersection_area(box, truth.box) >= kOverlap * box.area();
  });
}

int best_free_truth(const boxes::Box& box, const boxes::Truths& truths, const Verdicts& verdicts) {
  float best_iou = kOverlap;
  int best = -1;
  for (std::size_t t = 0; t < truths.size(); ++t) {
    if (verdicts.truths[t] != Verdict::kNothing) continue;
    const float value = boxes::iou(box, truths[t].box);
    if (value > best_iou || (best < 0 && value >= best_iou)) {
      best_iou = value;
      best = static_cast<int>(t);
    }
  }
  return best;
}

}  // namespace

Verdicts judge(const PictureResult& picture, float threshold) {
  Verdicts verdicts;
  verdicts.detections.assign(picture.detections.size(), Verdict::kUnsure);
  verdicts.truth_of.assign(picture.detections.size(), -1);
  for (const boxes::Truth& truth : picture.truths) {
    verdicts.truths.push_back(truth.ignore ? Verdict::kIgnored : Verdict::kNothing);
  }
  std::vector<std::size_t> order(picture.detections.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return picture.detections[a].confidence > picture.detections[b].confidence;
  });
  for (const std::size_t d : order) {
    const boxes::Detection& detection = picture.detections[d];
    if (!(detection.confidence >= threshold)) break;
    const int truth = best_free_truth(detection.box, picture.truths, verdicts);
    if (truth < 0) {
      verdicts.detections[d] =
          in_ignored(detection.box, picture.truths) ? Verdict::kIgnored : Verdict::kNothing;
      continue;
    }
    const bool right = picture.truths[truth].class_index == detection.class_index;
    verdicts.detections[d] = verdicts.truths[truth] = right ? Verdict::kRight : Verdict::kWrongClass;
    verdicts.truth_of[d] = truth;
  }
  return verdicts;
}

float best_f1_threshold(std::span<const ClassMatches> classes) {
  std::vector<ScoredDetection> pool;
  std::int64_t truths = 0;
  for (const ClassMatches& matches : classes) {
    pool.insert(pool.end(), matches.detections.begin(), matches.detections.end());
    truths += matches.truths;
  }
  std::sort(pool.begin(), pool.end(),
            [](const ScoredDetection& a, const ScoredDetection& b) { return a.confidence > b.confidence; });
  double best_f1 = 0;
  float threshold = 0;
  std::int64_t found = 0;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    found += pool[i].found ? 1 : 0;
    // A threshold cannot part detections of equal confidence.
    if (i + 1 < pool.size() && pool[i + 1].confidence == pool[i].confidence) continue;
    const double f1 = 2.0 * static_cast<double>(found) / static_cast<double>(i + 1 + truths);
    if (f1 > best_f1) {
      best_f1 = f1;
      threshold = pool[i].confidence;
    }
  }
  return threshold;
}

void fill_confusion(std::span<const PictureResult> pictures, int classes, Evaluation* evaluation) {
  evaluation->confusion.assign(classes + 1, std::vector<std::int64_t>(classes + 1));
  evaluation->worst.clear();
  for (std::size_t p = 0; p < pictures.size(); ++p) {
    const PictureResult& picture = pictures[p];
    const Verdicts verdicts = judge(picture, evaluation->confusion_threshold);
    Evaluation::PictureErrors errors{picture.id, p, 0, 0, 0};
    for (std::size_t d = 0; d < picture.detections.size(); ++d) {
      const int detected = picture.detections[d].class_index;
      const Verdict verdict = verdicts.detections[d];
      if (verdict == Verdict::kUnsure || verdict == Verdict::kIgnored) continue;
      const int truth = verdicts.truth_of[d];
      ++evaluation->confusion[truth < 0 ? classes : picture.truths[truth].class_index][detected];
      errors.false_alarms += verdict == Verdict::kNothing ? 1 : 0;
      errors.wrong_class += verdict == Verdict::kWrongClass ? 1 : 0;
    }
    for (std::size_t t = 0; t < picture.truths.size(); ++t) {
      if (verdicts.truths[t] != Verdict::kNothing) continue;
      ++evaluation->confusion[picture.truths[t].class_index][classes];
      ++errors.missed;
    }
    evaluation->worst.push_back(errors);
  }
  std::sort(evaluation->worst.begin(), evaluation->worst.end(), [](const auto& a, const auto& b) {
    return a.total() != b.total() ? a.total() > b.total() : a.id < b.id;
  });
}

}  // namespace maskfit::evaluate
