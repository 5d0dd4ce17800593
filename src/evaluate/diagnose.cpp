#include "evaluate/diagnose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "evaluate/matching.h"

namespace maskfit::evaluate {
namespace {

// What the pictures say about one class.
struct ClassFacts {
  std::int64_t truths = 0;          // not ignored
  std::int64_t truths_outside = 0;  // of them, outside the evaluation's size limits
  std::int64_t truths_under_cell = 0;
  std::int64_t detections = 0;
  std::int64_t detections_outside = 0;
  float smallest_width = 0, smallest_height = 0, largest_width = 0, largest_height = 0;  // of truths
  float best_iou = 0;                     // of any detection with any truth of the class
  std::vector<std::int64_t> detected_by;  // detections of class k on truths of this class (IoU >= 0.5)
};

bool under_cell(const boxes::Box& box, const boxes::GridGeometry& geometry) {
  return box.width() < geometry.stride_x() || box.height() < geometry.stride_y();
}

void add_picture(const PictureResult& picture, int class_index, const SizeLimits& limits,
                 const DiagnosisInput& input, ClassFacts* facts) {
  for (const boxes::Detection& detection : picture.detections) {
    if (detection.class_index != class_index) continue;
    ++facts->detections;
    facts->detections_outside += limits.admits(detection.box) ? 0 : 1;
  }
  for (const boxes::Truth& truth : picture.truths) {
    if (truth.ignore || truth.class_index != class_index) continue;
    const bool first = facts->truths == 0;
    const float width = truth.box.width(), height = truth.box.height();
    facts->smallest_width = first ? width : std::min(facts->smallest_width, width);
    facts->smallest_height = first ? height : std::min(facts->smallest_height, height);
    facts->largest_width = std::max(facts->largest_width, width);
    facts->largest_height = std::max(facts->largest_height, height);
    ++facts->truths;
    facts->truths_outside += limits.admits(truth.box) ? 0 : 1;
    facts->truths_under_cell += under_cell(truth.box, input.geometry) ? 1 : 0;
    for (const boxes::Detection& detection : picture.detections) {
      const float iou = boxes::iou(detection.box, truth.box);
      if (detection.class_index == class_index) facts->best_iou = std::max(facts->best_iou, iou);
      if (iou >= 0.5f) ++facts->detected_by[detection.class_index];
    }
  }
}

ClassFacts facts_of(const DiagnosisInput& input, int class_index) {
  ClassFacts facts;
  facts.detected_by.resize(input.class_names.size());
  const SizeLimits limits = limits_from_spec(input.config, input.class_names[class_index]);
  for (const PictureResult& picture : input.pictures)
    add_picture(picture, class_index, limits, input, &facts);
  return facts;
}

std::string limits_text(const SizeLimits& limits) {
  const auto range = [](double low, double high) {
    return high < 1e9 ? fmt::format("{:g} to {:g}", low, high) : fmt::format("at least {:g}", low);
  };
  return fmt::format("{} px wide and {} px high", range(limits.min_width, limits.max_width),
                     range(limits.min_height, limits.max_height));
}

void diagnose_truths(const DiagnosisInput& input, const std::string& name, const ClassFacts& facts,
                     std::vector<std::string>* sentences) {
  if (facts.truths == 0) {
    sentences->push_back(
        fmt::format("Class '{}' has no object in the {} validation pictures, so its AP cannot be more than "
                    "0; check the split and "
                    "the class mapping.",
                    name, input.pictures.size()));
    return;
  }
  const SizeLimits limits = limits_from_spec(input.config, name);
  if (facts.truths_outside * 2 > facts.truths) {
    sentences->push_back(
        fmt::format("{} of {} objects of class '{}' are outside the evaluation's size limits ({}); they "
                    "measure {:.0f} to {:.0f} px "
                    "in width and {:.0f} to {:.0f} px in height at the network's input; change "
                    "evaluation_config.evaluation_box_config or enlarge the input.",
                    facts.truths_outside, facts.truths, name, limits_text(limits), facts.smallest_width,
                    facts.largest_width, facts.smallest_height, facts.largest_height));
  }
  if (facts.truths_under_cell * 2 > facts.truths) {
    sentences->push_back(fmt::format(
        "{} of {} objects of class '{}' are smaller than one output cell ({:g} x {:g} px); enlarge the "
        "network's input "
        "or choose a network with a finer grid.",
        facts.truths_under_cell, facts.truths, name, input.geometry.stride_x(), input.geometry.stride_y()));
  }
}

// To three decimals, so that what is too little never reads as enough: 0.4996 is not 0.500.
double rounded_down(float value) {
  return std::floor(static_cast<double>(value) * 1000) / 1000;
}

// Thresholds that leave nothing. True when one was found.
bool diagnose_thresholds(const DiagnosisInput& input, std::size_t c, std::vector<std::string>* sentences) {
  if (input.signals.size() <= c) return false;
  const ClassSignal& signal = input.signals[c];
  if (signal.highest_coverage <= signal.coverage_threshold) {
    sentences->push_back(
        fmt::format("The coverage_threshold of class '{}' cuts off everything: it is {:g}, the highest "
                    "coverage of any cell is {:.3g}; "
                    "lower it or train longer.",
                    input.class_names[c], signal.coverage_threshold, signal.highest_coverage));
    return true;
  }
  if (signal.highest_confidence > 0 && signal.highest_confidence < signal.confidence_threshold) {
    sentences->push_back(
        fmt::format("The confidence threshold of class '{}' cuts off everything: it is {:g}, the highest "
                    "confidence of any cluster is "
                    "{:.3g}; lower it or train longer.",
                    input.class_names[c], signal.confidence_threshold, signal.highest_confidence));
    return true;
  }
  return false;
}

void diagnose_detections(const DiagnosisInput& input, std::size_t c, const ClassFacts& facts,
                         std::vector<std::string>* sentences) {
  const std::string& name = input.class_names[c];
  if (facts.detections == 0) {
    if (diagnose_thresholds(input, c, sentences)) return;
    sentences->push_back(
        fmt::format("Nothing was detected as '{}': no cluster passed coverage_threshold, dbscan_eps, "
                    "minimum_bounding_box_height and "
                    "the confidence threshold; lower them or train longer.",
                    name));
    return;
  }
  if (facts.detections_outside == facts.detections) {
    sentences->push_back(
        fmt::format("All {} detections of class '{}' are outside the evaluation's size limits ({}).",
                    facts.detections, name, limits_text(limits_from_spec(input.config, name))));
  }
  const auto most = std::max_element(facts.detected_by.begin(), facts.detected_by.end());
  const std::size_t other = static_cast<std::size_t>(most - facts.detected_by.begin());
  if (*most > 0 && other != c && facts.detected_by[c] == 0) {
    sentences->push_back(
        fmt::format("Objects of class '{}' are found, but as '{}' ({} times); check that the order of the "
                    "classes and the class "
                    "mapping are those of training.",
                    name, input.class_names[other], *most));
  } else if (facts.truths > 0 && facts.best_iou < overlap_from_spec(input.config, name)) {
    sentences->push_back(fmt::format(
        "The {} detections of class '{}' lie in the wrong places: the best overlap with an object is {:.3f}, "
        "{:g} is "
        "needed; check the input size, the box scale and whether labels and pictures belong together.",
        facts.detections, name, rounded_down(facts.best_iou), overlap_from_spec(input.config, name)));
  }
}

void diagnose_unmapped(const DiagnosisInput& input, std::vector<std::string>* sentences) {
  if (input.unmapped_labels.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [name, count] : input.unmapped_labels)
    parts.push_back(fmt::format("'{}' ({})", name, count));
  sentences->push_back(
      fmt::format("Labels that belong to no class of the detector: {}; add them to "
                  "dataset_config.target_class_mapping or leave them "
                  "out on purpose.",
                  fmt::join(parts, ", ")));
}

}  // namespace

std::vector<std::string> diagnose(const DiagnosisInput& input) {
  std::vector<std::string> sentences;
  const auto& classes = input.evaluation.classes;
  if (std::none_of(classes.begin(), classes.end(), [](const ClassResult& result) { return result.ap == 0; }))
    return {};
  if (input.pictures.empty()) return {"No picture was evaluated; check the validation split."};
  bool any_without_truths = false;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].ap > 0) continue;
    const ClassFacts facts = facts_of(input, static_cast<int>(c));
    any_without_truths |= facts.truths == 0;
    diagnose_truths(input, input.class_names[c], facts, &sentences);
    diagnose_detections(input, c, facts, &sentences);
  }
  if (any_without_truths) diagnose_unmapped(input, &sentences);
  if (sentences.empty()) {
    sentences.push_back(
        "Data, sizes and thresholds look right; the network has not learnt enough yet. Train longer, or "
        "check the "
        "learning rate.");
  }
  return sentences;
}

}  // namespace maskfit::evaluate
