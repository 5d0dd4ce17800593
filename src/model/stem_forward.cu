// y = windows * weights, with the sums of y and its square on the way. See stem_device.cuh.

#include "model/stem_device.cuh"

namespace maskfit::model {
namespace {

constexpr int kForwardThreads = 256;

struct ForwardSums {
  float* partial;            // [block][2][kFilters] of (y - origin) and its square
  const float* moving_mean;  // origin = moving_mean - bias: any number near the mean will do
  const float* bias;
};

__device__ float origin_of(const ForwardSums& sums, int filter) {
  return sums.moving_mean[filter] - (sums.bias == nullptr ? 0.0f : sums.bias[filter]);
}

constexpr int kTiles = 4;         // of 8 filters, a warp's half
constexpr int kStageStride = 80;  // bytes of 32 filters and padding

// What a warp does with a tile of 16 pixels x 32 filters: write it, through shared memory so that a thread
// stores 16 bytes, and add it to the sums.
template <typename T>
struct TileWriter {
  const Geometry& g;
  T* y;
  unsigned char* staged;  // [16][kStageStride] of this warp
  int lane, half;
  float origin[kTiles][2], sum[kTiles][2] = {}, squares[kTiles][2] = {};

  __device__ TileWriter(const Geometry& geometry, T* out, unsigned char* stage, int lane_in, int half_in,
                        const ForwardSums& sums)
      : g(geometry), y(out), staged(stage), lane(lane_in), half(half_in) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int filter = half * 32 + t * 8 + lane % 4 * 2 + i;
        origin[t][i] = filter < g.filters ? origin_of(sums, filter) : 0;
      }
    }
  }

  // line: of all lines of the batch.
  __device__ __forceinline__ void write(const float (&c)[kTiles][4], int line, int column) {
    constexpr const T* kType = nullptr;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const int row = lane / 4 + 8 * upper;
        const unsigned pair = pack_pair(c[t][2 * upper], c[t][2 * upper + 1], kType);
        *reinterpret_cast<unsigned*>(staged + row * kStageStride + t * 16 + lane % 4 * 4) = pair;
        if (column + row < g.columns) {
          const float2 kept = unpack_pair(pair, kType);
          const float d0 = kept.x - origin[t][0], d1 = kept.y - origin[t][1];
          sum[t][0] += d0, sum[t][1] += d1;
          squares[t][0] = fmaf(d0, d0, squares[t][0]), squares[t][1] = fmaf(d1, d1, squares[t][1]);
        }
      }
    }
    __syncwarp();
    T* const to = y + (static_cast<std::int64_t>(line) * g.columns + column) * g.filters;
#pragma unroll
    for (int i = lane; i < 64; i += 32) {
      const int row = i / 4, filter = half * 32 + i % 4 * 8;
      if (column + row >= g.columns || filter >= g.filters) continue;
      *reinterpret_cast<uint4*>(to + row * g.filters + filter) =
          *reinterpret_cast<const uint4*>(staged + row * kStageStride + i % 4 * 16);
    }
  }

  // The warp's sums into its row of the block's.
  __device__ void store_sums(float (&row)[2][kFilters]) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        for (int far = 4; far < 32; far *= 2) {
          sum[t][i] += __shfl_xor_sync(~0u, sum[t][i], far);
          squares[t][i] += __shfl_xor_sync(~0u, squares[t][i], far);
        }
        if (lane < 4) {
          row[0][half * 32 + t * 8 + lane * 2 + i] = sum[t][i];
          row[1][half * 32 + t * 8 + lane * 2 + i] = squares[t][i];
        }
      }
    }
  }
};

// Warp w computes 16 pixels of two lines at a time for half of the filters, whose weights it keeps in
// registers. Most folded lines lie under both windows and are loaded once.
template <int kBlocks>
constexpr int kForwardSlots = kBlocks + 3;  // under two windows, and two that arrive
template <typename T, int kBlocks>
__global__ void __launch_bounds__(kForwardThreads, 1)
    stem_forward_kernel(Geometry g, const T* pictures, const T* weights, T* y, ForwardSums sums) {
  constexpr int kSteps = kBlocks * kBlocks;
  constexpr int kWarps = kForwardThreads / 32;
  constexpr int kAhead = 3;  // steps whose pixels are on their way from shared memory
  constexpr const T* kType = nullptr;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ __align__(16) unsigned char stage[kWarps][16 * kStageStride];
  __shared__ float block_sums[kWarps / 2][2][kFilters];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int half = warp % 2, group = warp / 2;
  clear_shared(reinterpret_cast<uint4*>(shared), kForwardSlots<kBlocks> * g.slot());

  unsigned b[kSteps][kTiles][2];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int filter = half * 32 + t * 8 + lane / 4;
      const T* const from = weights + (filter * kSteps + s) * kDepth + lane % 4 * 2;
      const bool exists = filter < g.filters;
      b[s][t][0] = exists ? *reinterpret_cast<const unsigned*>(from) : 0;
      b[s][t][1] = exists ? *reinterpret_cast<const unsigned*>(from + 8) : 0;
    }
  }
  const Lines<T, kForwardSlots<kBlocks>> folded{pictures, shared_address(shared), g};
  const int pairs = (g.lines + 1) / 2, begin = blockIdx.x * g.units_of_block;
  const int end = min(begin + g.units_of_block, g.count * pairs);
  TileWriter<T> writer(g, y, stage[warp], lane, half, sums);
  for (int unit = begin; unit < end; ++unit) {
    const int picture = unit / pairs, line = unit % pairs * 2;
    if (unit == begin || line == 0) {
      __syncthreads();
      folded.fetch(picture, line, line + kBlocks + 1, threadIdx.x, kForwardThreads);
    }
    finish_copies();
    __syncthreads();
    folded.fetch(picture, line + kBlocks + 1, line + kBlocks + 3, threadIdx.x, kForwardThreads);
    unsigned slots[kBlocks + 1];
#pragma unroll
    for (int a = 0; a <= kBlocks; ++a) slots[a] = folded.slot_of(line + a);
    for (int column = group * 16; column < g.columns; column += kWarps / 2 * 16) {
      float c[2][kTiles][4] = {};
      const unsigned here = lane / 16 * g.plane + (column + lane % 16) * 16;
      constexpr int kLoads = kSteps + kBlocks;
      unsigned a[kAhead + 1][4];
#pragma unroll
      for (int s = -kAhead; s < kLoads; ++s) {
        const int next = s + kAhead;
        if (next < kLoads) {
          load_matrices(a[next % (kAhead + 1)], slots[next / kBlocks] + here + next % kBlocks * 16);
        }
        if (s < 0) continue;
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
          const int above = s - kBlocks;  // the same folded line in the window of the second line
          if (s < kSteps)
            multiply(c[0][t], a[s % (kAhead + 1)], b[s % kSteps][t][0], b[s % kSteps][t][1], kType);
          if (above >= 0) {
            multiply(c[1][t], a[s % (kAhead + 1)], b[above % kSteps][t][0], b[above % kSteps][t][1], kType);
          }
        }
      }
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        if (line + second >= g.lines) break;
        const int line_of_all = picture * g.lines + line + second;
        writer.write(c[second], line_of_all, column);
      }
    }
  }

  writer.store_sums(block_sums[group]);
  __syncthreads();
  if (threadIdx.x < 2 * kFilters) {
    const int which = threadIdx.x / kFilters, filter = threadIdx.x % kFilters;
    float total = 0;
    for (int i = 0; i < kWarps / 2; ++i) total += block_sums[i][which][filter];
    sums.partial[blockIdx.x * 2 * kFilters + threadIdx.x] = total;
  }
}

// One block. Thread (part, value) adds every fourth block's sums.
__global__ void stem_statistics_kernel(ForwardSums sums, Statistics job, double rows, int filters,
                                       int blocks) {
  __shared__ double parts[4][2 * kFilters];
  const int value = threadIdx.x % (2 * kFilters), part = threadIdx.x / (2 * kFilters);
  double sum = 0;
#pragma unroll 8
  for (int block = part; block < blocks; block += 4) sum += sums.partial[block * 2 * kFilters + value];
  parts[part][value] = sum;
  __syncthreads();
  const int f = threadIdx.x;
  if (f >= filters) return;
  const auto total = [&](int at) { return parts[0][at] + parts[1][at] + parts[2][at] + parts[3][at]; };
  const double distance = total(f) / rows, mean = origin_of(sums, f) + distance;
  const double variance = fmax(0.0, total(kFilters + f) / rows - distance * distance);
  job.mean[f] = static_cast<float>(mean);
  job.invstd[f] = static_cast<float>(1 / sqrt(variance + job.epsilon));
  const double shown_mean = mean + (job.bias == nullptr ? 0.0f : job.bias[f]), m = job.momentum;
  job.moving_mean[f] = static_cast<float>(m * job.moving_mean[f] + (1 - m) * shown_mean);
  job.moving_variance[f] = static_cast<float>(m * job.moving_variance[f] + (1 - m) * variance);
}

}  // namespace

const char* stem_forward_cuda(const StemConv& conv, const void* pictures, const void* weights, void* y,
                              const Statistics& statistics, void* scratch, CUstream_st* stream) {
  const ForwardSums sums{static_cast<float*>(scratch), statistics.moving_mean, statistics.bias};
  return with_stem(conv, [&]<typename T, int kBlocks>(T, Constant<kBlocks>) -> const char* {
    const Geometry g = geometry_of(conv, kBlocks, 2);
    const int bytes = kForwardSlots<kBlocks> * g.slot(), grid = grid_of(g, 2);
    if (const char* failure = allow_shared(stem_forward_kernel<T, kBlocks>, bytes)) return failure;
    stem_forward_kernel<T, kBlocks><<<grid, kForwardThreads, bytes, stream>>>(
        g, static_cast<const T*>(pictures), static_cast<const T*>(weights), static_cast<T*>(y), sums);
    const double rows = static_cast<double>(g.count) * g.lines * g.columns;
    stem_statistics_kernel<<<1, 8 * kFilters, 0, stream>>>(sums, statistics, rows, g.filters, grid);
    return last_error();
  });
}

}  // namespace maskfit::model
