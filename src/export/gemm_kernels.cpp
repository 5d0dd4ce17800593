#include "export/gemm_kernels.h"

#include <immintrin.h>

#include <cstring>

namespace maskfit::exporting {
namespace {

constexpr int kRows = kTileRows;

// --- any x86-64
// --------------------------------------------------------------------------------------------------------

void float_tile_sse2(int depth, const float* a, const float* b, float* c, int c_stride) {
  for (int half = 0; half < 16; half += 8) {
    __m128 sum[kRows][2];
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] = _mm_loadu_ps(c + r * c_stride + half);
      sum[r][1] = _mm_loadu_ps(c + r * c_stride + half + 4);
    }
    for (int k = 0; k < depth; ++k) {
      const __m128 b0 = _mm_loadu_ps(b + k * 16 + half), b1 = _mm_loadu_ps(b + k * 16 + half + 4);
      for (int r = 0; r < kRows; ++r) {
        const __m128 weight = _mm_set1_ps(a[k * kRows + r]);
        sum[r][0] = _mm_add_ps(sum[r][0], _mm_mul_ps(weight, b0));
        sum[r][1] = _mm_add_ps(sum[r][1], _mm_mul_ps(weight, b1));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      _mm_storeu_ps(c + r * c_stride + half, sum[r][0]);
      _mm_storeu_ps(c + r * c_stride + half + 4, sum[r][1]);
    }
  }
}

// Two 16-bit weights as one 32-bit number.
inline std::int32_t pair_at(const std::int16_t* a) {
  std::int32_t pair;
  std::memcpy(&pair, a, sizeof(pair));
  return pair;
}

void integer_tile_sse2(int groups, const void* weights, const void* activations, std::int32_t* c,
                       int c_stride) {
  const auto* a = static_cast<const std::int16_t*>(weights);
  const auto* b = static_cast<const std::int16_t*>(activations);
  for (int part = 0; part < 16; part += 8) {
    __m128i sum[kRows][2];
    for (int r = 0; r < kRows; ++r) {
      for (int h = 0; h < 2; ++h) {
        sum[r][h] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(c + r * c_stride + part + 4 * h));
      }
    }
    for (int k = 0; k < groups; ++k) {
      const auto* column = reinterpret_cast<const __m128i*>(b + (k * 16 + part) * 2);
      const __m128i b0 = _mm_loadu_si128(column), b1 = _mm_loadu_si128(column + 1);
      for (int r = 0; r < kRows; ++r) {
        const __m128i weight = _mm_set1_epi32(pair_at(a + (k * kRows + r) * 2));
        sum[r][0] = _mm_add_epi32(sum[r][0], _mm_madd_epi16(weight, b0));
        sum[r][1] = _mm_add_epi32(sum[r][1], _mm_madd_epi16(weight, b1));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int h = 0; h < 2; ++h) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(c + r * c_stride + part + 4 * h), sum[r][h]);
      }
    }
  }
}

// --- AVX2 and FMA
// ------------------------------------------------------------------------------------------------------

__attribute__((target("avx2,fma"))) void float_tile_avx2(int depth, const float* a, const float* b, float* c,
                                                         int c_stride) {
  __m256 sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    sum[r][0] = _mm256_loadu_ps(c + r * c_stride);
    sum[r][1] = _mm256_loadu_ps(c + r * c_stride + 8);
  }
  for (int k = 0; k < depth; ++k) {
    const __m256 b0 = _mm256_loadu_ps(b + k * 16), b1 = _mm256_loadu_ps(b + k * 16 + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256 weight = _mm256_set1_ps(a[k * kRows + r]);
      sum[r][0] = _mm256_fmadd_ps(weight, b0, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(weight, b1, sum[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    _mm256_storeu_ps(c + r * c_stride, sum[r][0]);
    _mm256_storeu_ps(c + r * c_stride + 8, sum[r][1]);
  }
}

__attribute__((target("avx2"))) void integer_tile_avx2(int groups, const void* weights,
                                                       const void* activations, std::int32_t* c,
                                                       int c_stride) {
  const auto* a = static_cast<const std::int16_t*>(weights);
  const auto* b = static_cast<const std::int16_t*>(activations);
  __m256i sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    for (int h = 0; h < 2; ++h) {
      sum[r][h] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(c + r * c_stride + 8 * h));
    }
  }
  for (int k = 0; k < groups; ++k) {
    const auto* column = reinterpret_cast<const __m256i*>(b + k * 32);
    const __m256i b0 = _mm256_loadu_si256(column), b1 = _mm256_loadu_si256(column + 1);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256i weight = _mm256_set1_epi32(pair_at(a + (k * kRows + r) * 2));
      sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(weight, b0));
      sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(weight, b1));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int h = 0; h < 2; ++h) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(c + r * c_stride + 8 * h), sum[r][h]);
    }
  }
}

// --- AVX-512 with VNNI
// -------------------------------------------------------------------------------------------------

__attribute__((target("avx512f"))) void float_tile_avx512(int depth, const float* a, const float* b, float* c,
                                                          int c_stride) {
  __m512 sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    sum[r][0] = _mm512_loadu_ps(c + r * c_stride);
    sum[r][1] = _mm512_loadu_ps(c + r * c_stride + 16);
  }
  for (int k = 0; k < depth; ++k) {
    const __m512 b0 = _mm512_loadu_ps(b + k * 32), b1 = _mm512_loadu_ps(b + k * 32 + 16);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m512 weight = _mm512_set1_ps(a[k * kRows + r]);
      sum[r][0] = _mm512_fmadd_ps(weight, b0, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(weight, b1, sum[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(c + r * c_stride, sum[r][0]);
    _mm512_storeu_ps(c + r * c_stride + 16, sum[r][1]);
  }
}

// vpdpbusd multiplies unsigned by signed bytes and adds four products to 32 bits without saturation on the
// way.
__attribute__((target("avx512f,avx512vnni"))) void integer_tile_vnni(int groups, const void* weights,
                                                                     const void* activations, std::int32_t* c,
                                                                     int c_stride) {
  const auto* a = static_cast<const std::int8_t*>(weights);
  const auto* b = static_cast<const std::uint8_t*>(activations);
  __m512i sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    sum[r][0] = _mm512_loadu_si512(c + r * c_stride);
    sum[r][1] = _mm512_loadu_si512(c + r * c_stride + 16);
  }
  for (int k = 0; k < groups; ++k) {
    const __m512i b0 = _mm512_loadu_si512(b + k * 128), b1 = _mm512_loadu_si512(b + k * 128 + 64);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      std::int32_t four;
      std::memcpy(&four, a + (k * kRows + r) * 4, sizeof(four));
      const __m512i weight = _mm512_set1_epi32(four);
      sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], b0, weight);
      sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], b1, weight);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_si512(c + r * c_stride, sum[r][0]);
    _mm512_storeu_si512(c + r * c_stride + 16, sum[r][1]);
  }
}

constexpr GemmKernels kKernels[] = {{"AVX-512 VNNI", 32, 4, float_tile_avx512, integer_tile_vnni},
                                    {"AVX2", 16, 2, float_tile_avx2, integer_tile_avx2},
                                    {"SSE2", 16, 2, float_tile_sse2, integer_tile_sse2}};

bool runs_here(int row) {
  __builtin_cpu_init();
  if (row == 0) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
  if (row == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return true;
}

}  // namespace

int usable_gemm_kernels(const GemmKernels* kernels[3]) {
  int count = 0;
  for (int row = 0; row < 3; ++row) {
    if (runs_here(row)) kernels[count++] = &kKernels[row];
  }
  return count;
}

const GemmKernels& gemm_kernels() {
  static const GemmKernels& best = []() -> const GemmKernels& {
    const GemmKernels* usable[3];
    usable_gemm_kernels(usable);
    return *usable[0];
  }();
  return best;
}

void quantise_row(const float* values, float scale, std::int64_t count, std::int8_t* out) {
  // Adding and taking off 1.5 * 2^23 rounds half to even, and vectorises on any processor.
  constexpr float kRound = 12582912.0f;
  for (std::int64_t i = 0; i < count; ++i) {
    float x = values[i] / scale;
    x = x > -128.0f ? x : -128.0f;
    x = x < 127.0f ? x : 127.0f;
    out[i] = static_cast<std::int8_t>((x + kRound) - kRound);
  }
}

void relu_row(const float* values, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = values[i] > 0.0f ? values[i] : 0.0f;
}

void add_row(const float* a, const float* b, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

void scale_row(const std::int32_t* values, float factor, float offset, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(values[i]) * factor + offset;
}

}  // namespace maskfit::exporting
