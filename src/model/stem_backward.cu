// dL/dweights = dL/dy, through the norm, * windows. See stem_device.cuh.

#include "model/stem_device.cuh"

namespace maskfit::model {
namespace {

// A chunk of the line's gradient, [pixel][filter] with the 16-byte vectors of a pixel permuted by its number:
// free of conflicts for both who writes and who reads.
constexpr int kBackwardThreads = 512;
constexpr int kChunkBytes = kChunk * kFilters * 2;
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

// Half of the warps, the producers, turn dL/dy into dL/d(what the norm read), 64 pixels at a time, and fetch
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
  struct Loaded {  // a chunk's pixels on their way to this thread
    IncomingVector<T, kGradients> incoming[kRowsOfThread];
    uint4 raw[kRowsOfThread];
  };

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

  __device__ void load(Loaded& loaded, int at, int end, int column) const {
#pragma unroll
    for (int k = 0; k < kRowsOfThread; ++k) {
      const int here = column + pixel + kLines * k;
      if (!exists || here >= g.columns || at >= end) continue;
      const std::int64_t row = static_cast<std::int64_t>(at) * g.columns + here;
      loaded.incoming[k].load(job.incoming, compact, row, g.filters, channel);
      loaded.raw[k] = vector_at<T>(job.forward.x, row, g.filters, channel);
    }
  }

  __device__ void store(const Loaded& loaded, unsigned chunk, int column) const {
    constexpr const T* kType = nullptr;
#pragma unroll
    for (int k = 0; k < kRowsOfThread; ++k) {
      float x[kChannels] = {}, gradient[kChannels];
      if (exists && column + pixel + kLines * k < g.columns) {
        loaded.incoming[k].sum(gradient);
        unpack(loaded.raw[k], x, kType);
#pragma unroll
        for (int i = 0; i < kChannels; ++i) {
          const float masked = !kRelu || before.at(i, x[i], 0) > 0 ? gradient[i] : 0;
          x[i] = to_x.at(i, masked, x[i]);
        }
      }
      const uint4 packed = pack(x, kType);
      asm volatile(
          "st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(chunk_address(chunk, pixel + kLines * k, vector)),
          "r"(packed.x), "r"(packed.y), "r"(packed.z), "r"(packed.w)
          : "memory");
    }
  }

  // The chunk after (at, column).
  __device__ void step(int& at, int& column) const {
    column += kChunk;
    if (column < g.columns) return;
    column = 0;
    ++at;
  }

  __device__ void run(const Lines<T, kBackwardSlots<kBlocks>>& folded, unsigned chunks, int begin, int end) {
    Loaded even, odd;  // two chunks ahead
    int next_at = begin, next_column = 0;
    load(even, next_at, end, next_column);
    step(next_at, next_column);
    load(odd, next_at, end, next_column);
    int turn = 0;
    for (int at = begin; at < end; ++at) {
      const int picture = at / g.lines, line = at % g.lines;
      if (at == begin || line == 0) {
        barrier_wait(kPicture);  // nobody reads the picture before any more
        folded.fetch(picture, line, line + kBlocks, thread, kProducers);
      }
      finish_copies();
      for (int column = 0; column < g.columns; column += kChunk, ++turn) {
        if (turn >= 2) barrier_wait(kEmpty + turn % 2);
        // Now the line two before is done with, and so is the slot that the next one takes.
        if (column == 0) folded.fetch(picture, line + kBlocks, line + kBlocks + 1, thread, kProducers);
        step(next_at, next_column);
        const auto pass_on = [&](Loaded& loaded) {
          store(loaded, chunks + turn % 2 * kChunkBytes, column);
          barrier_arrive(kFull + turn % 2);
          load(loaded, next_at, end, next_column);
        };
        turn % 2 == 0 ? pass_on(even) : pass_on(odd);
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
#pragma unroll
        for (int k = 0; k < kChunk; k += 16) {
          if (k >= pixels) break;
          unsigned a[4][4], b[kOwn][4];
          const int row = k + lane % 8 + lane / 16 * 8;
#pragma unroll
          for (int o = 0; o < kOwn; ++o) load_transposed(b[o], window[o] + (column + k) * 16);
#pragma unroll
          for (int m = 0; m < 4; ++m) {
            load_transposed(a[m], chunk_address(chunk, row, 2 * m + lane / 8 % 2));
          }
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
            const int filter = m * 16 + lane / 4 + i / 2 * 8,
                      place = s * kDepth + n * 8 + lane % 4 * 2 + i % 2;
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
__global__ void stem_weights_kernel(const float* partial, Unfolding u, int filters, int blocks,
                                    float* to_weights) {
  __shared__ float parts[8][32];
  const int size = u.kernel * u.kernel * u.channels, weight = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (weight < filters * size) {
    const int i = weight % size;
    const int y = i / u.channels / u.kernel + u.first - u.kernel / 2;
    const int x = i / u.channels % u.kernel + u.first - u.kernel / 2;
    const int place =
        (y / 2 * u.blocks + x / 2) * u.depth + (y % 2 * 2 + x % 2) * u.channels + i % u.channels;
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
      kernel<<<grid, kBackwardThreads, bytes, stream>>>(g, static_cast<const T*>(pictures), norm, compact,
                                                        partial);
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
