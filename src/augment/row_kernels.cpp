#include "augment/row_kernels.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace maskfit::augment {
namespace {

constexpr float kPerLevel = 1.0f / 255.0f;  // 8-bit level to 0..1

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

#ifdef __SSE2__

// Red, green, blue and a byte of the next pixel, as floats.
MASKFIT_INLINE __m128 load_pixel(const std::uint8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof(four));
  const __m128i zero = _mm_setzero_si128();
  const __m128i words = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero);
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(words, zero));
}

MASKFIT_INLINE __m128 mix(__m128 a, __m128 b, float weight_b) {
  return _mm_add_ps(a, _mm_mul_ps(_mm_sub_ps(b, a), _mm_set1_ps(weight_b)));
}

MASKFIT_INLINE __m128 sample_pixel(const std::uint8_t* top, std::ptrdiff_t stride, float right, float down) {
  const std::uint8_t* bottom = top + stride;
  const __m128 upper = mix(load_pixel(top), load_pixel(top + 3), right);
  const __m128 lower = mix(load_pixel(bottom), load_pixel(bottom + 3), right);
  return _mm_mul_ps(mix(upper, lower, down), _mm_set1_ps(kPerLevel));
}

// Four pixels at a time, turned from pixels into planes in registers. Returns how many were done.
int sample_fours(const SourceLine& line, int first, int count, float* red, float* green, float* blue) {
  const __m128 step_x = _mm_set1_ps(line.step_x), row_x = _mm_set1_ps(line.row_x);
  const __m128 step_y = _mm_set1_ps(line.step_y), row_y = _mm_set1_ps(line.row_y);
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m128 place =
        _mm_add_ps(_mm_set1_ps(static_cast<float>(first + i)), _mm_setr_ps(0.5f, 1.5f, 2.5f, 3.5f));
    const __m128 sx = _mm_add_ps(_mm_mul_ps(place, step_x), row_x),
                 sy = _mm_add_ps(_mm_mul_ps(place, step_y), row_y);
    const __m128i left = _mm_cvttps_epi32(sx), top = _mm_cvttps_epi32(sy);
    alignas(16) std::int32_t column[4], row[4];
    alignas(16) float right[4], down[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(column), left);
    _mm_store_si128(reinterpret_cast<__m128i*>(row), top);
    _mm_store_ps(right, _mm_sub_ps(sx, _mm_cvtepi32_ps(left)));
    _mm_store_ps(down, _mm_sub_ps(sy, _mm_cvtepi32_ps(top)));
    __m128 pixel[4];
    for (int k = 0; k < 4; ++k) {
      pixel[k] =
          sample_pixel(line.pixels + row[k] * line.stride + column[k] * 3, line.stride, right[k], down[k]);
    }
    _MM_TRANSPOSE4_PS(pixel[0], pixel[1], pixel[2], pixel[3]);
    _mm_storeu_ps(red + i, pixel[0]);
    _mm_storeu_ps(green + i, pixel[1]);
    _mm_storeu_ps(blue + i, pixel[2]);
  }
  return i;
}

#else

int sample_fours(const SourceLine&, int, int, float*, float*, float*) {
  return 0;
}

#endif

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

void sample_rgb(const SourceLine& line, int first, int count, float* red, float* green, float* blue) {
  for (int i = sample_fours(line, first, count, red, green, blue); i < count; ++i) {
    const float place = static_cast<float>(first + i) + 0.5f;
    const float sx = place * line.step_x + line.row_x, sy = place * line.step_y + line.row_y;
    const int left = static_cast<int>(sx),
              top = static_cast<int>(sy);  // not negative: towards 0 is towards below
    const float right = sx - static_cast<float>(left), down = sy - static_cast<float>(top);
    const std::uint8_t* upper_left = line.pixels + top * line.stride + left * 3;
    float* out[] = {red + i, green + i, blue + i};
    for (int c = 0; c < 3; ++c) {
      const auto mix_row = [&](const std::uint8_t* p) {
        return p[c] + static_cast<float>(p[c + 3] - p[c]) * right;
      };
      const float upper = mix_row(upper_left), lower = mix_row(upper_left + line.stride);
      *out[c] = (upper + (lower - upper) * down) * kPerLevel;
    }
  }
}

void transform_colors(const Matrix4& color, int count, float* red, float* green, float* blue) {
  if (have_avx2()) return transform_colors_avx2(color.data(), count, red, green, blue);
  transform_colors_body(color.data(), count, red, green, blue);
}

}  // namespace maskfit::augment
