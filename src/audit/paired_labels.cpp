#include "audit/paired_labels.h"

#include <fmt/format.h>

#include <optional>

namespace maskfit::audit {
namespace {

constexpr float kSameFaceIou = 0.5f;

// Boxes on the unit square, so that the pictures' sizes do not matter.
std::vector<dataset::LabeledBox> on_unit_square(const dataset::Sample& sample, bool mirrored) {
  std::vector<dataset::LabeledBox> boxes = sample.boxes;
  for (dataset::LabeledBox& box : boxes) {
    box.box_in_image = boxes::scale(box.box_in_image, 1 / static_cast<float>(sample.width),
                                    1 / static_cast<float>(sample.height));
    if (mirrored) {
      const boxes::Box b = box.box_in_image;
      box.box_in_image = {1 - b.x2, b.y1, 1 - b.x1, b.y2};
    }
  }
  return boxes;
}

// The box of `boxes` that overlaps most.
const dataset::LabeledBox* partner(const dataset::LabeledBox& box,
                                   const std::vector<dataset::LabeledBox>& boxes) {
  const dataset::LabeledBox* best = nullptr;
  float best_iou = kSameFaceIou;
  for (const dataset::LabeledBox& other : boxes) {
    const float iou = boxes::iou(box.box_in_image, other.box_in_image);
    if (iou >= best_iou) {
      best = &other;
      best_iou = iou;
    }
  }
  return best;
}

// What `mine` has and `theirs` has not, or has otherwise.
std::string unmatched(const std::vector<dataset::LabeledBox>& mine,
                      const std::vector<dataset::LabeledBox>& theirs, const std::string& there) {
  for (const dataset::LabeledBox& box : mine) {
    if (box.ignore) continue;
    const dataset::LabeledBox* other = partner(box, theirs);
    if (other == nullptr) return fmt::format("a {} box is missing on {}", box.class_name, there);
    if (!other->ignore && other->class_name != box.class_name)
      return fmt::format("{} here is {} on {}", box.class_name, other->class_name, there);
  }
  return "";
}

}  // namespace

std::string label_difference(const dataset::Sample& a, const dataset::Sample& b, bool mirrored) {
  const auto mine = on_unit_square(a, mirrored), theirs = on_unit_square(b, false);
  const std::string difference = unmatched(mine, theirs, b.id);
  return difference.empty() ? unmatched(theirs, mine, a.id) : difference;
}

std::vector<double> area_ratios(const dataset::Sample& a, const dataset::Sample& b, bool mirrored) {
  const auto mine = on_unit_square(a, mirrored), theirs = on_unit_square(b, false);
  std::vector<double> ratios;
  for (const dataset::LabeledBox& box : mine) {
    if (box.ignore) continue;
    const dataset::LabeledBox* other = partner(box, theirs);
    if (other != nullptr && other->box_in_image.area() > 0)
      ratios.push_back(box.box_in_image.area() / other->box_in_image.area());
  }
  return ratios;
}

}  // namespace maskfit::audit
