#pragma once

// The arithmetic of the rasteriser for one box and one cell (spec sections 2.2 to 2.4). This header is
// compiled by the C++ compiler and by nvcc, so the CPU's and the GPU's targets come from the same lines and
// are equal bit for bit.
//
// Everything is float32 in grid units: cell (x, y) covers [x, x+1) x [y, y+1).

#include "boxes/box.h"

#if defined(__CUDACC__)
#define MASKFIT_HOST_DEVICE __host__ __device__
#else
#define MASKFIT_HOST_DEVICE
#endif

namespace maskfit::targets {

// How the boxes of one class are drawn: an entry of BboxRasterizerConfig.target_class_config.
struct ClassShape {
  float center_x = 0.5f, center_y = 0.5f;  // centre of the ellipse, fractions of the box, 0..1
  float radius_x = 1.0f,
        radius_y = 1.0f;    // semi-axes, fractions of the distance from the centre to the nearer edge
  float min_radius = 1.0f;  // smallest semi-axis, grid cells
};

// Where box numbers live: value = pixels / scale, measured from the cell's top-left corner + offset.
struct BoxCoding {
  float scale = 35.0f;  // pixels
  float offset = 0.5f;  // pixels
};

// A shape to draw. A point in grid units maps to (u, v, 1) = (x, y, 1) * matrix; the dead zone is the unit
// circle (or the unit square) there, the coverage area the same shape shrunk by (ratio_x, ratio_y).
struct Stamp {
  float matrix[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  float ratio_x = 1, ratio_y = 1;
  bool ellipse = true;
};

// A plane a*x + b*y + d over integer cell coordinates.
struct Gradient {
  float a = 0, b = 0, d = 0;
};

enum class GradientFlag { kPassThrough = 0, kMultiplyByCoverage = 1 };

// Fractions of a cell, in sixteenths.
struct CellCover {
  float dead_zone = 0;
  float coverage = 0;
};

// The gradients of DetectNet_v2 in the order in which they are drawn.
constexpr int kGradients = 6;
enum GradientIndex { kCoverage = 0, kCoverageNorm = 1, kLeft = 2, kTop = 3, kRight = 4, kBottom = 5 };

// A box ready to be drawn into the planes of its class.
struct BoxStamp {
  Stamp stamp;
  float inverse_area =
      1;  // 1 / max(4 * semi-axis x * semi-axis y, 1): the weight that makes big boxes count less
  Gradient gradients[kGradients];
};

namespace detail {

// a * b + c rounded twice. nvcc would otherwise fuse it and differ from the CPU in the last bit.
MASKFIT_HOST_DEVICE inline float multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fmul_rn(a, b), c);
#else
  return a * b + c;
#endif
}

// A product that nvcc may not fuse with the sum that it goes into.
MASKFIT_HOST_DEVICE inline float multiply(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

MASKFIT_HOST_DEVICE inline float larger(float a, float b) {
  return a < b ? b : a;
}

// The plane that is `start` at coordinate `low` and `end` at `high`, as slope and intercept. A side shorter
// than a tenth of a cell is taken as that, which keeps the slope finite.
MASKFIT_HOST_DEVICE inline void ramp(float low, float high, float start, float end, float* slope,
                                     float* intercept) {
  const float side = high - low;
  *slope = (end - start) * side / larger(side * side, 0.01f);
  *intercept = multiply_add(-*slope, low, start);
}

MASKFIT_HOST_DEVICE inline bool inside(float u, float v, bool ellipse) {
  if (ellipse) return multiply_add(u, u, v * v) < 1.0f;
  return u < 1.0f && u > -1.0f && v < 1.0f && v > -1.0f;
}

}  // namespace detail

// Ellipse of a box (spec 2.2). `deadzone_radius` 0..1 puts the dead zone's edge between the coverage ellipse
// and the box. A box with x2 < x1 is not refused: it gets the smallest ellipse at its middle, as in the
// reference.
MASKFIT_HOST_DEVICE inline Stamp box_stamp_shape(const boxes::Box& box_in_grid, const ClassShape& shape,
                                                 float deadzone_radius, float* inverse_area) {
  using detail::larger;
  using detail::multiply_add;
  const float center_x = multiply_add(shape.center_x, box_in_grid.x2 - box_in_grid.x1, box_in_grid.x1);
  const float center_y = multiply_add(shape.center_y, box_in_grid.y2 - box_in_grid.y1, box_in_grid.y1);
  const float half_x = shape.center_x < 0.5f ? center_x - box_in_grid.x1 : box_in_grid.x2 - center_x;
  const float half_y = shape.center_y < 0.5f ? center_y - box_in_grid.y1 : box_in_grid.y2 - center_y;
  float axis_x = larger(shape.radius_x * half_x, 0.1f);
  float axis_y = larger(shape.radius_y * half_y, 0.1f);
  // Both clamps keep the aspect ratio; the order matters.
  if (axis_x < shape.min_radius) {
    axis_y = shape.min_radius * axis_y / axis_x;
    axis_x = shape.min_radius;
  }
  if (axis_y < shape.min_radius) {
    axis_x = shape.min_radius * axis_x / axis_y;
    axis_y = shape.min_radius;
  }
  const float dead_x = larger(multiply_add(1.0f - deadzone_radius, axis_x, deadzone_radius * half_x), axis_x);
  const float dead_y = larger(multiply_add(1.0f - deadzone_radius, axis_y, deadzone_radius * half_y), axis_y);
  *inverse_area = 1.0f / larger(4.0f * axis_x * axis_y, 1.0f);

  Stamp stamp;
  stamp.matrix[0][0] = 1.0f / dead_x;
  stamp.matrix[1][1] = 1.0f / dead_y;
  stamp.matrix[2][0] = -center_x / dead_x;
  stamp.matrix[2][1] = -center_y / dead_y;
  stamp.ratio_x = axis_x / dead_x;
  stamp.ratio_y = axis_y / dead_y;
  return stamp;
}

// The ellipse together with its six gradients (spec 2.4). stride_x, stride_y: pixels a cell.
MASKFIT_HOST_DEVICE inline BoxStamp box_stamp(const boxes::Box& box_in_grid, const ClassShape& shape,
                                              float deadzone_radius, float stride_x, float stride_y,
                                              const BoxCoding& coding) {
  BoxStamp result;
  result.stamp = box_stamp_shape(box_in_grid, shape, deadzone_radius, &result.inverse_area);
  const float offset = coding.offset / coding.scale;
  const float width = detail::multiply(box_in_grid.x2 - box_in_grid.x1, stride_x / coding.scale);
  const float height = detail::multiply(box_in_grid.y2 - box_in_grid.y1, stride_y / coding.scale);
  Gradient* g = result.gradients;
  g[kCoverage].d = 1.0f;
  g[kCoverageNorm].d = result.inverse_area;
  detail::ramp(box_in_grid.x1, box_in_grid.x2, offset, width + offset, &g[kLeft].a, &g[kLeft].d);
  detail::ramp(box_in_grid.x1, box_in_grid.x2, width - offset, -offset, &g[kRight].a, &g[kRight].d);
  detail::ramp(box_in_grid.y1, box_in_grid.y2, offset, height + offset, &g[kTop].b, &g[kTop].d);
  detail::ramp(box_in_grid.y1, box_in_grid.y2, height - offset, -offset, &g[kBottom].b, &g[kBottom].d);
  return result;
}

// What happens to a cell that is owned with `owner` coverage: a dead zone at least as strong erases it, then
// coverage at least as strong as what is left takes it (spec 2.3).
struct Blend {
  bool erase = false, draw = false;
};
MASKFIT_HOST_DEVICE inline Blend blend(const CellCover& cover, float owner) {
  Blend result;
  result.erase = cover.dead_zone > 0 && cover.dead_zone >= owner;
  result.draw = cover.coverage > 0 && cover.coverage >= (result.erase ? 0.0f : owner);
  return result;
}

// Does one of a cell's five sample lines on an axis (at .1, .3, .5, .7, .9) lie in low <= sample < high
// (spec 2.6)?
MASKFIT_HOST_DEVICE inline bool touches_cell(float low, float high, int cell) {
  const float samples[] = {0.1f, 0.3f, 0.5f, 0.7f, 0.9f};
  for (const float sample : samples) {
    const float at = static_cast<float>(cell) + sample;
    if (low <= at && at < high) return true;
  }
  return false;
}

// Counts the 4 x 4 samples of cell (x, y) inside the dead zone and inside the coverage area (spec 2.3).
MASKFIT_HOST_DEVICE inline CellCover cell_cover(const Stamp& stamp, int x, int y) {
  using detail::multiply_add;
  int dead = 0;
  int covered = 0;
  for (int j = 0; j < 4; ++j) {
    const float sample_y = static_cast<float>(y) + (static_cast<float>(j) + 0.5f) * 0.25f;
    for (int i = 0; i < 4; ++i) {
      const float sample_x = static_cast<float>(x) + (static_cast<float>(i) + 0.5f) * 0.25f;
      const float u =
          multiply_add(sample_x, stamp.matrix[0][0], sample_y * stamp.matrix[1][0]) + stamp.matrix[2][0];
      const float v =
          multiply_add(sample_x, stamp.matrix[0][1], sample_y * stamp.matrix[1][1]) + stamp.matrix[2][1];
      dead += detail::inside(u, v, stamp.ellipse) ? 1 : 0;
      covered += detail::inside(u / stamp.ratio_x, v / stamp.ratio_y, stamp.ellipse) ? 1 : 0;
    }
  }
  return {static_cast<float>(dead) * 0.0625f, static_cast<float>(covered) * 0.0625f};
}

MASKFIT_HOST_DEVICE inline float gradient_value(const Gradient& gradient, GradientFlag flag, int x, int y,
                                                float coverage) {
  using detail::multiply_add;
  const float plane =
      multiply_add(static_cast<float>(x), gradient.a, static_cast<float>(y) * gradient.b) + gradient.d;
  return flag == GradientFlag::kMultiplyByCoverage ? plane * coverage : plane;
}

MASKFIT_HOST_DEVICE inline GradientFlag detectnet_flag(int gradient) {
  return gradient <= kCoverageNorm ? GradientFlag::kMultiplyByCoverage : GradientFlag::kPassThrough;
}

}  // namespace maskfit::targets
