#pragma once

// Why is the AP 0? Looks for causes that training longer does not cure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluate.h"

namespace maskfit::evaluate {

// What the network said before any threshold, over all pictures; lets the diagnosis name the threshold at
// fault.
struct ClassSignal {
  float highest_coverage = 0;      // over all cells
  float coverage_threshold = 0;    // cells at or below it are left out
  float highest_confidence = 0;    // over all clusters, before the confidence threshold; 0 when not known
  float confidence_threshold = 0;  // clusters below it are left out
};

struct DiagnosisInput {
  const std::vector<PictureResult>& pictures;  // boxes in network pixels
  const std::vector<std::string>& class_names;
  const spec::EvaluationConfig& config;
  const Evaluation& evaluation;  // of these pictures
  boxes::GridGeometry geometry;  // of the network's output
  // Labels of the validation data that no target class took, by their name in the label files.
  std::map<std::string, std::int64_t> unmapped_labels;
  // One a class, or empty when not known.
  std::vector<ClassSignal> signals;
};

// Sentences, each with what was found, its numbers and the remedy; the likeliest cause first. Only classes
// with AP 0 are looked at; empty when there is none. Never empty otherwise: when nothing is wrong with data
// and thresholds, it says so.
std::vector<std::string> diagnose(const DiagnosisInput& input);

}  // namespace maskfit::evaluate
