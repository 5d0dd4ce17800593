#pragma once

// What was taken for what: class-agnostic matching at IoU 0.5 above one confidence.

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/evaluate.h"
#include "evaluate/matching.h"

namespace maskfit::evaluate {

// What became of one detection or truth.
enum class Verdict {
  kRight,       // matched, same class
  kWrongClass,  // matched, other class
  kNothing,     // a missed truth, a false alarm
  kIgnored,     // an ignored truth; a detection in one
  kUnsure,      // a detection below the threshold
};

struct Verdicts {
  std::vector<Verdict> detections;  // one each, in the picture's order
  std::vector<Verdict> truths;      // one each, in the picture's order
  std::vector<int> truth_of;        // place of the truth that the detection was matched with, or -1
};

// Detections choose in descending order of confidence, each the free truth of any class with the largest IoU
// >= 0.5. One that finds none, but lies in an ignored truth by at least half, is ignored.
Verdicts judge(const PictureResult& picture, float threshold);

// The confidence from which the pooled detections of all classes have the best F1; 0 without any true
// positive.
float best_f1_threshold(std::span<const ClassMatches> classes);

// Fills confusion and worst of the evaluation, at its confusion_threshold.
void fill_confusion(std::span<const PictureResult> pictures, int classes, Evaluation* evaluation);

}  // namespace maskfit::evaluate
