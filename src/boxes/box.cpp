#include "boxes/box.h"

#include <algorithm>

namespace maskfit::boxes {
namespace {

float inclusive_side(float low, float high) {
  return std::max(0.0f, high - low + 1.0f);
}

}  // namespace

float intersection_area(const Box& a, const Box& b) {
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  return width > 0 && height > 0 ? width * height : 0;
}

float iou(const Box& a, const Box& b, float regulariser) {
  const float intersection = intersection_area(a, b);
  const float union_area = a.area() + b.area() - intersection + regulariser;
  return union_area > 0 ? intersection / union_area : 0;
}

float iou_inclusive(const Box& a, const Box& b) {
  const float intersection = inclusive_side(std::max(a.x1, b.x1), std::min(a.x2, b.x2)) *
                             inclusive_side(std::max(a.y1, b.y1), std::min(a.y2, b.y2));
  const float area_a = inclusive_side(a.x1, a.x2) * inclusive_side(a.y1, a.y2);
  const float area_b = inclusive_side(b.x1, b.x2) * inclusive_side(b.y1, b.y2);
  const float union_area = area_a + area_b - intersection;
  return union_area > 0 ? intersection / union_area : 0;
}

Box clip(const Box& box, float width, float height) {
  return {std::clamp(box.x1, 0.0f, width), std::clamp(box.y1, 0.0f, height), std::clamp(box.x2, 0.0f, width),
          std::clamp(box.y2, 0.0f, height)};
}

Box scale(const Box& box, float factor_x, float factor_y) {
  return {box.x1 * factor_x, box.y1 * factor_y, box.x2 * factor_x, box.y2 * factor_y};
}

Box grid_from_network(const Box& box_in_network, const GridGeometry& geometry) {
  return scale(box_in_network, 1.0f / geometry.stride_x(), 1.0f / geometry.stride_y());
}

}  // namespace maskfit::boxes
