#pragma once

// The inner loops of apply.cpp, one row of pixels at a time. This file is compiled with full optimisation,
// the vectorised loops twice, for any x86-64 and for AVX2, chosen when it is called; the results are the same
// to the last bit.

#include <cstddef>
#include <cstdint>

#include "augment/plan.h"

namespace maskfit::augment {

// Weights of the two source columns of one output pixel: value = row[offset] + (row[offset + channels] -
// row[offset]) * weight.
struct ColumnTap {
  std::int32_t offset;
  float weight;
};

// out[i] = a[i] * weight_a + b[i] * weight_b, i in [0, count).
void blend_rows(const std::uint8_t* a, const std::uint8_t* b, float weight_a, float weight_b, int count,
                float* out);

// Interpolates an interleaved row of 3 (or 1) channels at `count` taps into planes.
void gather_rgb(const float* row, const ColumnTap* taps, int count, float* red, float* green, float* blue);
void gather_grey(const float* row, const ColumnTap* taps, int count, float* grey);

// A place on an RGB source for every output pixel x of a row: sx = (x + .5) * step_x + row_x, likewise sy.
struct SourceLine {
  const std::uint8_t* pixels;
  std::ptrdiff_t stride;  // bytes a source row
  float step_x, row_x, step_y, row_y;
};

// Bilinear samples at the output pixels [first, first + count), 0..1. REQUIRES 0 <= sx < width - 2, 0 <= sy <
// height - 1.
void sample_rgb(const SourceLine& line, int first, int count, float* red, float* green, float* blue);

// [r, g, b, 1] * color, cut to 0..1, in place.
void transform_colors(const Matrix4& color, int count, float* red, float* green, float* blue);

}  // namespace maskfit::augment
