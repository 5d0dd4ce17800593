// A block walks over lines of the output, a contiguous range of all lines of the batch. The folded lines under
// its window lie in shared memory, split into two planes of 8 channels: there 8 neighbouring pixels are 128
// neighbouring bytes, which is what a matrix fragment is loaded from without conflicts, wherever in the line
// it begins; so no window is ever copied out. While a line is computed the next one arrives.

#include <algorithm>
#include <cstdint>

#include "model/norm_device.cuh"
#include "model/stem.h"
#include "model/stem_conv.h"

namespace maskfit::model {
namespace {

constexpr int kForwardThreads = 256, kBackwardThreads = 512;
constexpr int kBlocksOfAll = 132;  // fixed, so that sums are the same on every GPU
constexpr int kFilters = 64;       // computed; those that do not exist have weight 0
constexpr int kDepth = 16;         // channels of a folded pixel

struct Geometry {
  int count, lines, columns, filters;
  int width, height;     // of a folded picture
  int plane;             // bytes of a plane of 8 channels in shared memory
  int units_of_block;    // lines of the output, or pairs of them
  __host__ __device__ int slot() const { return 2 * plane; }  // bytes of a line in shared memory
};

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
__device__ void finish_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ void load_matrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ void load_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

// c += a (16 x 16) * b (16 x 8).
__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, const __nv_bfloat16*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, const __half*) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pack_pair(float low, float high, const __nv_bfloat16*) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ unsigned pack_pair(float low, float high, const __half*) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ float2 unpack_pair(unsigned pair, const __nv_bfloat16*) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
}
__device__ float2 unpack_pair(unsigned pair, const __half*) {
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
      const T* const from = pictures + (static_cast<std::int64_t>(picture) * g.height + line) * g.width * kDepth;
      const unsigned to = slot_of(line);
      for (int i = thread; i < 2 * g.width; i += threads) copy_async(to + i % 2 * g.plane + i / 2 * 16, from + i * 8);
    }
  }
};

// What lies beyond a line is multiplied by 0 and must be a number.
__device__ void clear_shared(uint4* memory, int bytes) {
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) memory[i] = {0, 0, 0, 0};
  __syncthreads();
}

struct ForwardSums {
  float* partial;              // [block][2][kFilters] of (y - origin) and its square
  const float* moving_mean;    // origin = moving_mean - bias: any number near the mean will do
  const float* bias;
};

__device__ float origin_of(const ForwardSums& sums, int filter) {
  return sums.moving_mean[filter] - (sums.bias == nullptr ? 0.0f : sums.bias[filter]);
}

// Warp w computes 16 pixels of two lines at a time for half of the filters, whose weights it keeps in
// registers. Most folded lines lie under both windows and are loaded once.
template <int kBlocks>
constexpr int kForwardSlots = kBlocks + 3;  // under two windows, and two that arrive
template <typename T, int kBlocks>
__global__ void __launch_bounds__(kForwardThreads, 1)
    stem_forward_kernel(Geometry g, const T* pictures, const T* weights, T* y, ForwardSums sums) {
  constexpr int kSteps = kBlocks * kBlocks, kTiles = 4;  // tiles of 8 filters
  constexpr int kWarps = kForwardThreads / 32;
  constexpr int kAhead = 3;  // steps whose pixels are on their way from shared memory
  constexpr const T* kType = nullptr;
  constexpr int kStageStride = 80;  // bytes of 32 filters and padding
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
  float origin[kTiles][2], sum[kTiles][2] = {}, squares[kTiles][2] = {};
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int filter = half * 32 + t * 8 + lane % 4 * 2 + i;
      origin[t][i] = filter < g.filters ? origin_of(sums, filter) : 0;
    }
  }

  const Lines<T, kForwardSlots<kBlocks>> folded{pictures, shared_address(shared), g};
  const int pairs = (g.lines + 1) / 2, begin = blockIdx.x * g.units_of_block;
  const int end = min(begin + g.units_of_block, g.count * pairs);
  unsigned char* const staged = stage[warp];
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
          if (s < kSteps) multiply(c[0][t], a[s % (kAhead + 1)], b[s % kSteps][t][0], b[s % kSteps][t][1], kType);
          if (above >= 0) {
            multiply(c[1][t], a[s % (kAhead + 1)], b[above % kSteps][t][0], b[above % kSteps][t][1], kType);
          }
        }
      }
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        if (line + second >= g.lines) break;
        __syncwarp();
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
#pragma unroll
          for (int upper = 0; upper < 2; ++upper) {
            const int row = lane / 4 + 8 * upper;
            const unsigned pair = pack_pair(c[second][t][2 * upper], c[second][t][2 * upper + 1], kType);
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
        T* const to = y + ((static_cast<std::int64_t>(picture) * g.lines + line + second) * g.columns + column) * g.filters;
#pragma unroll
        for (int i = lane; i < 64; i += 32) {
          const int row = i / 4, filter = half * 32 + i % 4 * 8;
          if (column + row >= g.columns || filter >= g.filters) continue;
          *reinterpret_cast<uint4*>(to + row * g.filters + filter) =
              *reinterpret_cast<const uint4*>(staged + row * kStageStride + i % 4 * 16);
        }
      }
    }
  }

#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      for (int far = 4; far < 32; far *= 2) {
        sum[t][i] += __shfl_xor_sync(~0u, sum[t][i], far);
        squares[t][i] += __shfl_xor_sync(~0u, squares[t][i], far);
      }
      if (lane < 4) {
        block_sums[group][0][half * 32 + t * 8 + lane * 2 + i] = sum[t][i];
        block_sums[group][1][half * 32 + t * 8 + lane * 2 + i] = squares[t][i];
      }
    }
  }
  __syncthreads();
  if (threadIdx.x < 2 * kFilters) {
    const int which = threadIdx.x / kFilters, filter = threadIdx.x % kFilters;
    float total = 0;
    for (int i = 0; i < kWarps / 2; ++i) total += block_sums[i][which][filter];
    sums.partial[blockIdx.x * 2 * kFilters + threadIdx.x] = total;
  }
}

// One block. Thread (part, value) adds every fourth block's sums.
__global__ void stem_statistics_kernel(ForwardSums sums, Statistics job, double rows, int filters, int blocks) {
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

// A chunk of the line's gradient, [pixel][filter] with the 16-byte vectors of a pixel permuted by its number:
// free of conflicts for both who writes and who reads.
constexpr int kChunk = 128, kChunkBytes = kChunk * kFilters * 2;
__device__ unsigned chunk_address(unsigned chunk, int pixel, int vector) {
  return chunk + pixel * (kFilters * 2) + ((vector ^ (pixel & 7)) * 16);
}

// Barriers of the block by number; 0 is __syncthreads'.
enum Barrier { kFull = 1, kEmpty = 3, kPicture = 5 };  // full and empty: one of each a buffer
__device__ void barrier_wait(int number) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(kBackwardThreads) : "memory");
}
__device__ void barrier_arrive(int number) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "n"(kBackwardThreads) : "memory");
}

// Half of the warps, the producers, turn dL/dy into dL/d(what the norm read), 128 pixels at a time, and fetch
// the folded lines; the other half multiply the chunks with the windows over them. Of the accumulated product
// [filter][place in the folded window] a warp has 32 places. Two chunks are in the making.
constexpr int kProducers = kBackwardThreads / 2, kMultipliers = kBackwardThreads / 2 / 32;
template <int kBlocks>
constexpr int kBackwardSlots = kBlocks + 2;  // under the window, one that arrives, one that may still be read

template <typename T, int kBlocks, bool kRelu, Gradients kGradients>
struct Producer {
  static constexpr int kLines = kProducers / 8, kRowsOfThread = kChunk / kLines, kChannels = kLane<T>;
  const Geometry& g;
  const NormBackward& job;
  const Compact& compact;
  int thread, vector, pixel, channel;
  bool exists;
  BeforeRelu<T, Shortcut::kNone> before;
  InputGradient<kChannels> to_x;
  IncomingVector<T, kGradients> incoming[kRowsOfThread];
  uint4 raw[kRowsOfThread];

  __device__ Producer(const Geometry& geometry, const NormBackward& norm, const Compact& small, int thread_in)
      : g(geometry),
        job(norm),
        compact(small),
        thread(thread_in),
        vector(thread % 8),
        pixel(thread / 8),
        channel(vector * kChannels),
        exists(channel < geometry.filters),
        before(norm.forward, exists ? channel : 0),
        to_x(norm.forward.norm, norm.to_gamma, norm.to_beta,
             static_cast<float>(geometry.count) * geometry.lines * geometry.columns, exists ? channel : 0) {}

  __device__ void load(int at, int end, int column) {
#pragma unroll
    for (int k = 0; k < kRowsOfThread; ++k) {
      const int here = column + pixel + kLines * k;
      if (!exists || here >= g.columns || at >= end) continue;
      const std::int64_t row = static_cast<std::int64_t>(at) * g.columns + here;
      incoming[k].load(job.incoming, compact, row, g.filters, channel);
      raw[k] = vector_at<T>(job.forward.x, row, g.filters, channel);
    }
  }

  __device__ void store(unsigned chunk, int column) const {
    constexpr const T* kType = nullptr;
#pragma unroll
    for (int k = 0; k < kRowsOfThread; ++k) {
      float x[kChannels] = {}, gradient[kChannels];
      if (exists && column + pixel + kLines * k < g.columns) {
        incoming[k].sum(gradient);
        unpack(raw[k], x, kType);
#pragma unroll
        for (int i = 0; i < kChannels; ++i) {
          const float masked = !kRelu || before.at(i, x[i], 0) > 0 ? gradient[i] : 0;
          x[i] = to_x.at(i, masked, x[i]);
        }
      }
      const uint4 packed = pack(x, kType);
      asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(chunk_address(chunk, pixel + kLines * k, vector)),
                   "r"(packed.x), "r"(packed.y), "r"(packed.z), "r"(packed.w)
                   : "memory");
    }
  }

  __device__ void run(const Lines<T, kBackwardSlots<kBlocks>>& folded, unsigned chunks, int begin, int end) {
    int turn = 0;
    load(begin, end, 0);
    for (int at = begin; at < end; ++at) {
      const int picture = at / g.lines, line = at % g.lines;
      if (at == begin || line == 0) {
        barrier_wait(kPicture);  // nobody reads the picture before any more
        folded.fetch(picture, line, line + kBlocks, thread, kProducers);
      }
      finish_copies();
      folded.fetch(picture, line + kBlocks, line + kBlocks + 1, thread, kProducers);
      for (int column = 0; column < g.columns; column += kChunk, ++turn) {
        if (turn >= 2) barrier_wait(kEmpty + turn % 2);
        store(chunks + turn % 2 * kChunkBytes, column);
        barrier_arrive(kFull + turn % 2);
        const bool same_line = column + kChunk < g.columns;
        load(same_line ? at : at + 1, end, same_line ? column + kChunk : 0);
      }
    }
  }
};

template <typename T, int kBlocks>
struct Multiplier {
  static constexpr int kSteps = kBlocks * kBlocks, kOwn = (kSteps + kMultipliers - 1) / kMultipliers;
  const Geometry& g;
  int warp, lane;
  float c[kOwn][4][2][4] = {};  // 16 places, 16 filters, 8 places, fragment

  __device__ Multiplier(const Geometry& geometry, int warp_in, int lane_in)
      : g(geometry), warp(warp_in), lane(lane_in) {}

  __device__ void run(const Lines<T, kBackwardSlots<kBlocks>>& folded, unsigned chunks, int begin, int end) {
    constexpr const T* kType = nullptr;
    int turn = 0;
    for (int at = begin; at < end; ++at) {
      const int line = at % g.lines;
      if (at == begin || line == 0) barrier_wait(kPicture);
      unsigned window[kOwn];
#pragma unroll
      for (int o = 0; o < kOwn; ++o) {
        const int s = min(warp * kOwn + o, kSteps - 1);
        window[o] = folded.slot_of(line + s / kBlocks) + lane / 16 * g.plane + (lane % 16 + s % kBlocks) * 16;
      }
      for (int column = 0; column < g.columns; column += kChunk, ++turn) {
        barrier_wait(kFull + turn % 2);
        const unsigned chunk = chunks + turn % 2 * kChunkBytes;
        const int pixels = min(kChunk, g.columns - column);
        for (int k = 0; k < pixels; k += 16) {
          unsigned a[4][4], b[kOwn][4];
          const int row = k + lane % 8 + lane / 16 * 8;
#pragma unroll
          for (int o = 0; o < kOwn; ++o) load_transposed(b[o], window[o] + (column + k) * 16);
#pragma unroll
          for (int m = 0; m < 4; ++m) load_transposed(a[m], chunk_address(chunk, row, 2 * m + lane / 8 % 2));
#pragma unroll
          for (int m = 0; m < 4; ++m) {
#pragma unroll
            for (int o = 0; o < kOwn; ++o) {
              multiply(c[o][m][0], a[m], b[o][0], b[o][1], kType);
              multiply(c[o][m][1], a[m], b[o][2], b[o][3], kType);
            }
          }
        }
        barrier_arrive(kEmpty + turn % 2);
      }
    }
  }

  __device__ void write(float* mine) const {
#pragma unroll
    for (int o = 0; o < kOwn; ++o) {
      const int s = warp * kOwn + o;
      if (s >= kSteps) continue;
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int filter = m * 16 + lane / 4 + i / 2 * 8, place = s * kDepth + n * 8 + lane % 4 * 2 + i % 2;
            mine[filter * kSteps * kDepth + place] = c[o][m][n][i];
          }
        }
      }
    }
  }
};

template <typename T, int kBlocks, bool kRelu, Gradients kGradients>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    stem_backward_kernel(Geometry g, const T* pictures, NormBackward job, Compact compact, float* partial) {
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int kSlots = kBackwardSlots<kBlocks>;
  clear_shared(reinterpret_cast<uint4*>(shared), kSlots * g.slot());
  const Lines<T, kSlots> folded{pictures, shared_address(shared), g};
  const unsigned chunks = shared_address(shared) + kSlots * g.slot();  // two
  const int begin = blockIdx.x * g.units_of_block;
  const int end = min(begin + g.units_of_block, g.count * g.lines);
  if (threadIdx.x >= kBackwardThreads - kProducers) {
    Producer<T, kBlocks, kRelu, kGradients> producer(g, job, compact,
                                                     threadIdx.x - (kBackwardThreads - kProducers));
    producer.run(folded, chunks, begin, end);
  } else {
    Multiplier<T, kBlocks> multiplier(g, threadIdx.x / 32, threadIdx.x % 32);
    multiplier.run(folded, chunks, begin, end);
    multiplier.write(partial + static_cast<std::size_t>(blockIdx.x) * kFilters * kBlocks * kBlocks * kDepth);
  }
}

struct Unfolding {
  int kernel, channels, blocks, depth, first;  // see folded_place()
};

// 32 weights a block of 8 x 32 threads; each eighth of the blocks' sums to one row of threads.
__global__ void stem_weights_kernel(const float* partial, Unfolding u, int filters, int blocks, float* to_weights) {
  __shared__ float parts[8][32];
  const int size = u.kernel * u.kernel * u.channels, weight = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (weight < filters * size) {
    const int i = weight % size;
    const int y = i / u.channels / u.kernel + u.first - u.kernel / 2;
    const int x = i / u.channels % u.kernel + u.first - u.kernel / 2;
    const int place = (y / 2 * u.blocks + x / 2) * u.depth + (y % 2 * 2 + x % 2) * u.channels + i % u.channels;
    const int all = u.blocks * u.blocks * u.depth;
#pragma unroll 8
    for (int block = threadIdx.y; block < blocks; block += 8) {
      sum += partial[(static_cast<std::size_t>(block) * kFilters + weight / size) * all + place];
    }
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || weight >= filters * size) return;
  for (int part = 1; part < 8; ++part) sum += parts[part][threadIdx.x];
  to_weights[weight] = sum;
}

// lines_of_unit: 1 or 2 lines of the output.
Geometry geometry_of(const StemConv& conv, int blocks, int lines_of_unit) {
  Geometry g{conv.count, conv.lines, conv.columns, conv.filters, conv.columns + blocks - 1,
             conv.lines + blocks - 1, 0, 0};
  // A chunk of pixels that begins in the line may read this far beyond it.
  g.plane = ((conv.columns + kChunk - 1) / kChunk * kChunk + 8) * 16;
  const int units = conv.count * ((conv.lines + lines_of_unit - 1) / lines_of_unit);
  g.units_of_block = (units + kBlocksOfAll - 1) / kBlocksOfAll;
  return g;
}

int grid_of(const Geometry& g, int lines_of_unit) {
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

}  // namespace

std::int64_t stem_scratch_bytes() {
  return static_cast<std::int64_t>(kBlocksOfAll) * kFilters * 16 * kDepth * sizeof(float);
}

bool stem_conv_fits_gpu(const StemConv& conv) {
  const int blocks = stem_window(conv.kernel).blocks;
  const int slot = geometry_of(conv, blocks, 1).slot();
  constexpr int kStaticShared = 16 << 10;
  const int wanted = std::max((blocks + 3) * slot + kStaticShared, (blocks + 2) * slot + 2 * kChunkBytes);
  int device = 0, bytes = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess &&
         wanted <= bytes;
}

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

const char* stem_backward_cuda(const StemConv& conv, const void* pictures, const NormBackward& norm,
                               float* to_weights, void* scratch, CUstream_st* stream) {
  const Compact compact = compact_of(norm.incoming);
  float* const partial = static_cast<float*>(scratch);
  return with_stem(conv, [&]<typename T, int kBlocks>(T, Constant<kBlocks>) -> const char* {
    const Geometry g = geometry_of(conv, kBlocks, 1);
    const int bytes = kBackwardSlots<kBlocks> * g.slot() + 2 * kChunkBytes, grid = grid_of(g, 1);
    const auto launch = [&]<bool kRelu, Gradients kGradients>() -> const char* {
      const auto kernel = stem_backward_kernel<T, kBlocks, kRelu, kGradients>;
      if (const char* failure = allow_shared(kernel, bytes)) return failure;
      kernel<<<grid, kBackwardThreads, bytes, stream>>>(g, static_cast<const T*>(pictures), norm, compact, partial);
      return last_error();
    };
    const char* failure = nullptr;
    if (!norm.forward.relu) return "stem: a norm without ReLU";
    if (norm.incoming.second == nullptr) {
      failure = launch.template operator()<true, Gradients::kOne>();
    } else if (norm.incoming.stride == 1) {
      failure = launch.template operator()<true, Gradients::kTwo>();
    } else {
      failure = launch.template operator()<true, Gradients::kCompact>();
    }
    if (failure != nullptr) return failure;
    const int p = conv.kernel / 2, weights = conv.filters * conv.kernel * conv.kernel * conv.channels;
    const Unfolding u{conv.kernel, conv.channels, kBlocks, stem_channels(conv.channels), p + p % 2};
    stem_weights_kernel<<<(weights + 31) / 32, dim3(32, 8), 0, stream>>>(partial, u, conv.filters, grid,
                                                                         to_weights);
    return last_error();
  });
}

}  // namespace maskfit::model
