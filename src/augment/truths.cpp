#include "augment/truths.h"

#include <algorithm>
#include <cmath>

#include "augment/matrices.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

// Cuts to `rect`. Nothing when no part is left; `ignore` when less than the wanted share is.
std::optional<boxes::Truth> clip_to_rect(const boxes::Truth& truth, const Rect& rect,
                                         float min_visible_share) {
  boxes::Truth cut = truth;
  cut.box.x1 = std::max(truth.box.x1, static_cast<float>(rect.x1));
  cut.box.y1 = std::max(truth.box.y1, static_cast<float>(rect.y1));
  cut.box.x2 = std::min(truth.box.x2, static_cast<float>(rect.x2));
  cut.box.y2 = std::min(truth.box.y2, static_cast<float>(rect.y2));
  if (!(cut.box.area() > 0)) return std::nullopt;
  if (cut.box.area() < min_visible_share * truth.box.area()) cut.ignore = true;
  return cut;
}

std::optional<boxes::Truth> keep_inside(const boxes::Truth& truth, const Rect& tile, bool mosaic,
                                        const Options& options) {
  const LabelOptions& labels = options.labels;
  if (mosaic || labels.outside == Outside::kClip) return clip_to_rect(truth, tile, labels.min_visible_share);
  if (labels.outside == Outside::kKeep) return truth;
  bool truncated = false;
  const std::optional<boxes::Box> box = clip_to_crop(truth.box, options.crop, &truncated);
  if (!box) return std::nullopt;
  return boxes::Truth{*box, truth.class_index, truth.ignore};
}

// Corners may come in any order.
bool is_a_pixel(const boxes::Box& box) {
  return std::abs(box.width()) >= 1 && std::abs(box.height()) >= 1;
}

}  // namespace

boxes::Truths truths_in_network(const Plan& plan, std::span<const boxes::Truths* const> truths_in_canvas,
                                const Options& options) {
  MASKFIT_CHECK(plan.tiles.size() == truths_in_canvas.size(), "tiles={} lists={}", plan.tiles.size(),
                truths_in_canvas.size());
  const bool mosaic = plan.tiles.size() > 1;
  boxes::Truths result;
  for (std::size_t i = 0; i < plan.tiles.size(); ++i) {
    if (truths_in_canvas[i] == nullptr) continue;
    const Tile& tile = plan.tiles[i];
    const Mat3 network_from_canvas = inverse(to_double(tile.source_from_output));
    for (const boxes::Truth& truth : *truths_in_canvas[i]) {
      if (!is_a_pixel(truth.box)) continue;
      const boxes::Truth moved{transform(truth.box, network_from_canvas, options.labels.rotated_box),
                               truth.class_index, truth.ignore};
      const std::optional<boxes::Truth> kept = keep_inside(moved, tile.output_rect, mosaic, options);
      if (!kept || kept->box.width() < options.labels.min_width ||
          kept->box.height() < options.labels.min_height)
        continue;
      result.push_back(*kept);
    }
  }
  return result;
}

std::optional<boxes::Box> clip_to_crop(const boxes::Box& box, const CropRect& crop, bool* truncated) {
  if (!crop.given()) return box;
  const auto left = static_cast<float>(crop.left), right = static_cast<float>(crop.right);
  const auto top = static_cast<float>(crop.top), bottom = static_cast<float>(crop.bottom);
  if (box.x1 >= right || box.x2 <= left || box.y1 >= bottom || box.y2 <= top) return std::nullopt;
  const auto inside = [&](float x, float y) { return x >= left && x <= right && y >= top && y <= bottom; };
  if (inside(box.x1, box.y1) != inside(box.x2, box.y2)) *truncated = true;
  return boxes::Box{std::max(box.x1, left), std::max(box.y1, top), std::min(box.x2, right),
                    std::min(box.y2, bottom)};
}

}  // namespace maskfit::augment
