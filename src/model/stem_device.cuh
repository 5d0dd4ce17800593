#pragma once

// What the two kernels of the first convolution share. For *.cu files alone.
//
// A block walks over lines of the output, a contiguous range of all lines of the batch. The folded lines
// under its window lie in shared memory, split into two planes of 8 channels: there 8 neighbouring pixels are
// 128 neighbouring bytes, which is what a matrix fragment is loaded from without conflicts, wherever in the
// line it begins; so no window is ever copied out. While a line is computed the next ones arrive.

#include <algorithm>
#include <cstdint>

#include "model/norm_device.cuh"
#include "model/stem.h"
#include "model/stem_conv.h"

namespace maskfit::model {

constexpr int kBlocksOfAll = 132;  // fixed, so that sums are the same on every GPU
constexpr int kFilters = 64;       // computed; those that do not exist have weight 0
constexpr int kDepth = 16;         // channels of a folded pixel
constexpr int kChunk = 64;         // pixels of a line that the backward kernel takes at a time

struct Geometry {
  int count, lines, columns, filters;
  int width, height;   // of a folded picture
  int plane;           // bytes of a plane of 8 channels in shared memory
  int units_of_block;  // lines of the output, or pairs of them
  __host__ __device__ int slot() const { return 2 * plane; }  // bytes of a line in shared memory
};

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
__device__ inline void finish_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ inline void load_matrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ inline void load_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

// c += a (16 x 16) * b (16 x 8).
__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                const __nv_bfloat16*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                const __half*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline unsigned pack_pair(float low, float high, const __nv_bfloat16*) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ inline unsigned pack_pair(float low, float high, const __half*) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ inline float2 unpack_pair(unsigned pair, const __nv_bfloat16*) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}
__device__ inline float2 unpack_pair(unsigned pair, const __half*) {
  return __half22float2(*reinterpret_cast<const __half2*>(&pair));
}

// The folded lines of a picture in shared memory: line l in slot l % kSlots.
template <typename T, int kSlots>
struct Lines {
  const T* pictures;
  unsigned memory;
  Geometry g;
  __device__ unsigned slot_of(int line) const { return memory + line % kSlots * g.slot(); }
  // Begins to copy the lines [first, end) of a picture, as thread `thread` of `threads`.
  __device__ void fetch(int picture, int first, int end, int thread, int threads) const {
    for (int line = first; line < min(end, g.height); ++line) {
      const T* const from =
          pictures + (static_cast<std::int64_t>(picture) * g.height + line) * g.width * kDepth;
      const unsigned to = slot_of(line);
      for (int i = thread; i < 2 * g.width; i += threads)
        copy_async(to + i % 2 * g.plane + i / 2 * 16, from + i * 8);
    }
  }
};

// What lies beyond a line is multiplied by 0 and must be a number.
__device__ inline void clear_shared(uint4* memory, int bytes) {
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) memory[i] = {0, 0, 0, 0};
  __syncthreads();
}

// lines_of_unit: 1 or 2 lines of the output.
inline Geometry geometry_of(const StemConv& conv, int blocks, int lines_of_unit) {
  Geometry g{
      conv.count, conv.lines, conv.columns, conv.filters, conv.columns + blocks - 1, conv.lines + blocks - 1,
      0,          0};
  // A chunk of pixels that begins in the line may read this far beyond it.
  g.plane = ((conv.columns + kChunk - 1) / kChunk * kChunk + 8) * 16;
  const int units = conv.count * ((conv.lines + lines_of_unit - 1) / lines_of_unit);
  g.units_of_block = (units + kBlocksOfAll - 1) / kBlocksOfAll;
  return g;
}

inline int grid_of(const Geometry& g, int lines_of_unit) {
  const int units = g.count * ((g.lines + lines_of_unit - 1) / lines_of_unit);
  return (units + g.units_of_block - 1) / g.units_of_block;
}

template <typename Kernel>
const char* allow_shared(Kernel kernel, int bytes) {
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

// Calls run(T(), blocks as a constant).
template <int kValue>
struct Constant {};
template <typename Run>
const char* with_stem(const StemConv& conv, Run run) {
  if (!stem_conv_takes(conv)) return "stem: convolution of another shape";
  const char* failure = nullptr;
  const auto with_blocks = [&](auto type) {
    const int blocks = stem_window(conv.kernel).blocks;
    if (blocks == 2) failure = run(type, Constant<2>());
    if (blocks == 3) failure = run(type, Constant<3>());
    if (blocks == 4) failure = run(type, Constant<4>());
  };
  conv.storage == Storage::kBfloat16 ? with_blocks(__nv_bfloat16()) : with_blocks(__half());
  return failure;
}

}  // namespace maskfit::model
