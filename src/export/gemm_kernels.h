#pragma once

// Inner loops of the executor, chosen at run time for the processor: SSE2 (any x86-64), AVX2 with FMA,
// AVX-512 with VNNI.

#include <cstdint>

namespace maskfit::exporting {

inline constexpr int kTileRows = 6;

// c[r][j] += sum over k of a[k][r] * b[k][j], for kTileRows rows and `columns` columns; a [depth][kTileRows],
// b [depth][columns], rows of c `c_stride` apart.
using FloatTile = void (*)(int depth, const float* a, const float* b, float* c, int c_stride);
// The same on integers, exact. Depth comes in groups: a [depth / group][kTileRows][group] of weights, b
// [depth / group][columns][group] of activations. group 4: bytes, the activations raised by 128 to 0..255
// (the caller takes 128 * sum of the weights off again); group 2: 16-bit numbers.
using IntegerTile = void (*)(int groups, const void* a, const void* b, std::int32_t* c, int c_stride);

struct GemmKernels {
  const char* name;
  int columns;  // of a tile
  int group;    // of the integer tile
  FloatTile float_tile;
  IntegerTile integer_tile;
};

// The fastest that this processor runs.
const GemmKernels& gemm_kernels();
// All that it runs, for tests.
int usable_gemm_kernels(const GemmKernels* kernels[3]);

// Round half to even(value / scale), cut to [-128, 127].
void quantise_row(const float* values, float scale, std::int64_t count, std::int8_t* out);
void relu_row(const float* values, std::int64_t count, float* out);
void add_row(const float* a, const float* b, std::int64_t count, float* out);
// out = integer * factor + offset
void scale_row(const std::int32_t* values, float factor, float offset, std::int64_t count, float* out);

}  // namespace maskfit::exporting
