#include "augment/row_kernels.h"

#include <algorithm>

namespace maskfit::augment {
namespace {

#define MASKFIT_INLINE inline __attribute__((always_inline))

MASKFIT_INLINE void blend_rows_body(const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
                                    float weight_a, float weight_b, int count, float* __restrict out) {
  for (int i = 0; i < count; ++i)
    out[i] = static_cast<float>(a[i]) * weight_a + static_cast<float>(b[i]) * weight_b;
}

MASKFIT_INLINE float clamp01(float x) {
  const float low = x > 0.0f ? x : 0.0f;
  return low < 1.0f ? low : 1.0f;
}

MASKFIT_INLINE void transform_colors_body(const float* __restrict k, int count, float* __restrict red,
                                          float* __restrict green, float* __restrict blue) {
  for (int i = 0; i < count; ++i) {
    const float r = red[i], g = green[i], b = blue[i];
    red[i] = clamp01(r * k[0] + g * k[4] + b * k[8] + k[12]);
    green[i] = clamp01(r * k[1] + g * k[5] + b * k[9] + k[13]);
    blue[i] = clamp01(r * k[2] + g * k[6] + b * k[10] + k[14]);
  }
}

MASKFIT_INLINE void gather_rgb_body(const float* __restrict row, const ColumnTap* __restrict taps, int count,
                                    float* __restrict red, float* __restrict green, float* __restrict blue) {
  for (int i = 0; i < count; ++i) {
    const float* left = row + taps[i].offset;
    const float weight = taps[i].weight;
    red[i] = left[0] + (left[3] - left[0]) * weight;
    green[i] = left[1] + (left[4] - left[1]) * weight;
    blue[i] = left[2] + (left[5] - left[2]) * weight;
  }
}

// AVX2 without FMA, so that both versions round alike.
#define MASKFIT_AVX2 __attribute__((target("avx2")))

MASKFIT_AVX2 void blend_rows_avx2(const std::uint8_t* a, const std::uint8_t* b, float weight_a,
                                  float weight_b, int count, float* out) {
  blend_rows_body(a, b, weight_a, weight_b, count, out);
}

MASKFIT_AVX2 void transform_colors_avx2(const float* k, int count, float* red, float* green, float* blue) {
  transform_colors_body(k, count, red, green, blue);
}

bool have_avx2() {
  static const bool have = __builtin_cpu_supports("avx2") != 0;
  return have;
}

}  // namespace

void blend_rows(const std::uint8_t* a, const std::uint8_t* b, float weight_a, float weight_b, int count,
                float* out) {
  if (have_avx2()) return blend_rows_avx2(a, b, weight_a, weight_b, count, out);
  blend_rows_body(a, b, weight_a, weight_b, count, out);
}

void gather_rgb(const float* row, const ColumnTap* taps, int count, float* red, float* green, float* blue) {
  gather_rgb_body(row, taps, count, red, green, blue);
}

void gather_grey(const float* row, const ColumnTap* taps, int count, float* grey) {
  for (int i = 0; i < count; ++i) {
    const float* left = row + taps[i].offset;
    grey[i] = left[0] + (left[1] - left[0]) * taps[i].weight;
  }
}

void transform_colors(const Matrix4& color, int count, float* red, float* green, float* blue) {
  if (have_avx2()) return transform_colors_avx2(color.data(), count, red, green, blue);
  transform_colors_body(color.data(), count, red, green, blue);
}

}  // namespace maskfit::augment
