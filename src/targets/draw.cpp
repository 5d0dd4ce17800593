#include "targets/draw.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace maskfit::targets {
namespace {

// Clamps before the conversion: a box far outside would overflow int.
int to_cell(double coordinate, int limit) {
  return static_cast<int>(std::clamp(coordinate, 0.0, static_cast<double>(limit)));
}

}  // namespace

CellRange reach(const Stamp& stamp, int width, int height) {
  const double a = stamp.matrix[0][0], b = stamp.matrix[0][1];
  const double c = stamp.matrix[1][0], d = stamp.matrix[1][1];
  const double u0 = stamp.matrix[2][0], v0 = stamp.matrix[2][1];
  const double determinant = a * d - b * c;
  if (!(std::abs(determinant) > 1e-30)) return {0, width, 0, height};
  // (x, y) = ((u, v) - (u0, v0)) * inverse; the coverage area may be the larger one (ratio > 1).
  const double grow = std::max({1.0f, stamp.ratio_x, stamp.ratio_y});
  const double xu = d / determinant, xv = -c / determinant;
  const double yu = -b / determinant, yv = a / determinant;
  const double center_x = -(u0 * xu + v0 * xv);
  const double center_y = -(u0 * yu + v0 * yv);
  const double extent_x = grow * (stamp.ellipse ? std::hypot(xu, xv) : std::abs(xu) + std::abs(xv));
  const double extent_y = grow * (stamp.ellipse ? std::hypot(yu, yv) : std::abs(yu) + std::abs(yv));
  // A thousandth of a cell for the rounding of the float32 samples (they lie 1/8 inside the cell).
  constexpr double kSlack = 1e-3;
  return {to_cell(std::floor(center_x - extent_x - kSlack), width),
          to_cell(std::ceil(center_x + extent_x + kSlack), width),
          to_cell(std::floor(center_y - extent_y - kSlack), height),
          to_cell(std::ceil(center_y + extent_y + kSlack), height)};
}

PlaneCanvas::PlaneCanvas(int width, int height, std::vector<float*> planes, std::vector<GradientFlag> flags)
    : width_(width),
      height_(height),
      planes_(std::move(planes)),
      flags_(std::move(flags)),
      owner_coverage_(static_cast<std::size_t>(width) * height, 0.0f) {
  MASKFIT_CHECK(planes_.size() == flags_.size(), "{} planes, {} flags", planes_.size(), flags_.size());
}

void PlaneCanvas::draw(const Stamp& stamp, std::span<const Gradient> gradients) {
  MASKFIT_CHECK(gradients.size() == planes_.size(), "{} gradients, {} planes", gradients.size(),
                planes_.size());
  const CellRange range = reach(stamp, width_, height_);
  for (int y = range.y_begin; y < range.y_end; ++y) {
    for (int x = range.x_begin; x < range.x_end; ++x) draw_cell(stamp, gradients, x, y);
  }
}

void PlaneCanvas::draw_cell(const Stamp& stamp, std::span<const Gradient> gradients, int x, int y) {
  const CellCover cover = cell_cover(stamp, x, y);
  const std::size_t cell = static_cast<std::size_t>(y) * width_ + x;
  const Blend action = blend(cover, owner_coverage_[cell]);
  if (action.erase) {
    owner_coverage_[cell] = 0;
    for (float* plane : planes_) plane[cell] = 0;
  }
  if (action.draw) {
    owner_coverage_[cell] = cover.coverage;
    for (std::size_t g = 0; g < planes_.size(); ++g) {
      planes_[g][cell] = gradient_value(gradients[g], flags_[g], x, y, cover.coverage);
    }
  }
}

}  // namespace maskfit::targets
