#include "postprocess/decode.h"

#include <algorithm>

#include "base/error.h"

namespace maskfit::postprocess {

boxes::Box decode_cell(const boxes::GridGeometry& geometry, int column, int row, float left, float top,
                       float right, float bottom, const Options& options) {
  const float x = static_cast<float>(column) * geometry.stride_x() + options.offset;
  const float y = static_cast<float>(row) * geometry.stride_y() + options.offset;
  if (options.path == Path::kEvaluation) {
    return {x - options.scale * left, y - options.scale * top, x + options.scale * right,
            y + options.scale * bottom};
  }
  // The inference path works in units of `scale`; in float32 that rounds differently.
  const float unit_x = x / options.scale;
  const float unit_y = y / options.scale;
  return {-options.scale * (left - unit_x), -options.scale * (top - unit_y), options.scale * (right + unit_x),
          options.scale * (bottom + unit_y)};
}

boxes::Box clip_in_order(const boxes::Box& box, float width, float height) {
  const float x1 = std::clamp(box.x1, 0.0f, width);
  const float y1 = std::clamp(box.y1, 0.0f, height);
  return {x1, y1, std::min(std::max(box.x2, x1), width), std::min(std::max(box.y2, y1), height)};
}

Candidates decode(const OutputGrids& grids, int class_index, float coverage_threshold,
                  const Options& options) {
  const boxes::GridGeometry& geometry = grids.geometry;
  const std::size_t cells = static_cast<std::size_t>(geometry.cells());
  MASKFIT_CHECK(class_index >= 0 && class_index < grids.classes, "class {} of {}", class_index,
                grids.classes);
  MASKFIT_CHECK(grids.coverage.size() == grids.classes * cells, "coverage {} cells {} classes {}",
                grids.coverage.size(), cells, grids.classes);
  MASKFIT_CHECK(grids.box.size() == grids.classes * 4 * cells, "box {} cells {} classes {}", grids.box.size(),
                cells, grids.classes);
  const float* coverage = grids.coverage.data() + class_index * cells;
  const float* sides = grids.box.data() + class_index * 4 * cells;
  const bool by_rows = options.path == Path::kEvaluation;
  const int outer = by_rows ? geometry.grid_height : geometry.grid_width;
  const int inner = by_rows ? geometry.grid_width : geometry.grid_height;
  Candidates candidates;
  for (int i = 0; i < outer; ++i) {
    for (int j = 0; j < inner; ++j) {
      const int column = by_rows ? j : i;
      const int row = by_rows ? i : j;
      const std::size_t cell = static_cast<std::size_t>(row) * geometry.grid_width + column;
      if (!(coverage[cell] > coverage_threshold)) continue;
      boxes::Box box = decode_cell(geometry, column, row, sides[cell], sides[cells + cell],
                                   sides[2 * cells + cell], sides[3 * cells + cell], options);
      if (options.path == Path::kEvaluation) {
        box = clip_in_order(box, static_cast<float>(geometry.input_width),
                            static_cast<float>(geometry.input_height));
      }
      candidates.boxes_in_network.push_back(box);
      candidates.coverage.push_back(coverage[cell]);
    }
  }
  return candidates;
}

}  // namespace maskfit::postprocess
