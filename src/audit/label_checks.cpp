// Faults of boxes, and of boxes against each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/study.h"

namespace maskfit::audit {
namespace {

constexpr float kSpeckSide = 4;            // pixels of the shorter side
constexpr float kOutsideTolerance = 0.51;  // pixels over the edge that rounding explains
constexpr float kRepeatedIou = 0.9f;
constexpr float kTwoClassesIou = 0.8f;
constexpr double kElongated = 3;    // longer side over shorter side
constexpr double kHugeShare = 0.9;  // of the picture's area
constexpr std::size_t kCrowd = 20;  // boxes; and far beyond what is usual, see crowd_limit()

struct At {
  const Study& study;
  std::uint32_t sample;

  Example example(std::vector<std::uint32_t> boxes, std::string text, double rank = 0,
                  Repair::Action action = Repair::Action::kNone) const {
    Example example;
    example.samples = {sample};
    example.text = std::move(text);
    example.rank = rank;
    if (action != Repair::Action::kNone) example.repair = {action, sample, boxes.back()};
    example.boxes = std::move(boxes);
    return example;
  }
};

std::string text_of(const boxes::Box& box) {
  return fmt::format("{:.0f} x {:.0f} pixels at ({:.0f}, {:.0f})", box.width(), box.height(), box.x1, box.y1);
}

// True when the box deserves no further check.
bool check_place(const At& at, std::uint32_t b, Issues* issues) {
  const dataset::Sample& sample = at.study.sample(at.sample);
  const boxes::Box& box = sample.boxes[b].box_in_image;
  const auto width = static_cast<float>(sample.width), height = static_cast<float>(sample.height);
  const boxes::Box inside = boxes::clip(box, width, height);
  if (box.area() <= 0) {
    issues->add(Kind::kBoxEmpty, at.example({b}, text_of(box), 0, Repair::Action::kDropBox));
    return true;
  }
  if (inside.area() <= 0) {
    issues->add(Kind::kBoxOutside,
                at.example({b}, text_of(box) + ", wholly outside", 1, Repair::Action::kDropBox));
    return true;
  }
  const float over = std::max({-box.x1, -box.y1, box.x2 - width, box.y2 - height});
  if (over > kOutsideTolerance) {
    issues->add(Kind::kBoxOutside, at.example({b}, fmt::format("{:.0f} pixels over the edge", over),
                                              1 - inside.area() / box.area(), Repair::Action::kClipBox));
  }
  return false;
}

void check_shape(const At& at, std::uint32_t b, Issues* issues) {
  const dataset::Sample& sample = at.study.sample(at.sample);
  const boxes::Box& box = sample.boxes[b].box_in_image;
  const float shorter = std::min(box.width(), box.height()), longer = std::max(box.width(), box.height());
  if (shorter < kSpeckSide) {
    issues->add(Kind::kBoxSpeck, at.example({b}, text_of(box), -shorter, Repair::Action::kIgnoreBox));
    return;
  }
  // A face at the picture's edge may be cut to a strip.
  const bool at_edge = box.x1 <= 1 || box.y1 <= 1 || box.x2 >= static_cast<float>(sample.width) - 1 ||
                       box.y2 >= static_cast<float>(sample.height) - 1;
  const double elongation = longer / shorter;
  if (elongation >= kElongated && !at_edge)
    issues->add(Kind::kBoxElongated, at.example({b}, text_of(box), elongation));
  const double share = box.area() / (static_cast<double>(sample.width) * sample.height);
  if (share >= kHugeShare)
    issues->add(Kind::kBoxHuge, at.example({b}, fmt::format("{:.0f} % of the picture", 100 * share), share));
}

void check_overlaps(const At& at, Issues* issues) {
  const auto& boxes = at.study.sample(at.sample).boxes;
  for (std::uint32_t a = 0; a < boxes.size(); ++a) {
    for (std::uint32_t b = a + 1; b < boxes.size(); ++b) {
      if (boxes[a].ignore || boxes[b].ignore) continue;
      const float iou = boxes::iou(boxes[a].box_in_image, boxes[b].box_in_image);
      const bool same = boxes[a].class_name == boxes[b].class_name;
      if (same && iou >= kRepeatedIou) {
        issues->add(Kind::kBoxRepeated,
                    at.example({a, b}, fmt::format("two {} boxes, IoU {:.2f}", boxes[a].class_name, iou), iou,
                               Repair::Action::kDropBox));
      } else if (!same && iou >= kTwoClassesIou) {
        issues->add(Kind::kBoxTwoClasses, at.example({a, b},
                                                     fmt::format("{} and {}, IoU {:.2f}", boxes[a].class_name,
                                                                 boxes[b].class_name, iou),
                                                     iou));
      }
    }
  }
}

// Tukey's far outliers: three times the quartiles' distance above the upper one.
std::size_t crowd_limit(const Study& study) {
  std::vector<std::size_t> counts;
  for (const dataset::Sample& sample : study.data.samples) counts.push_back(sample.boxes.size());
  if (counts.empty()) return kCrowd;
  std::sort(counts.begin(), counts.end());
  const std::size_t low = counts[counts.size() / 4], high = counts[counts.size() * 3 / 4];
  return std::max(kCrowd, high + 3 * (high - low));
}

}  // namespace

void check_labels(const Study& study, Issues* issues) {
  const std::size_t crowd = crowd_limit(study);
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    const At at{study, i};
    const auto& boxes = study.sample(i).boxes;
    bool objects = false;
    for (std::uint32_t b = 0; b < boxes.size(); ++b) {
      objects |= !boxes[b].ignore;
      if (!check_place(at, b, issues) && !boxes[b].ignore) check_shape(at, b, issues);
    }
    check_overlaps(at, issues);
    if (!objects)
      issues->add(Kind::kNoObject, at.example({}, boxes.empty() ? "no box" : "only boxes to ignore"));
    if (boxes.size() > crowd) {
      issues->add(Kind::kBoxCrowd,
                  at.example({}, fmt::format("{} boxes", boxes.size()), static_cast<double>(boxes.size())));
    }
  }
}

}  // namespace maskfit::audit
