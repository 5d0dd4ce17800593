// All kernels here walk memory alike: a block has a chunk of channels, a thread 16 bytes of them that stay
// its own, and rows are strided over the blocks of the chunk. So what belongs to a channel is read once and
// kept in registers, neighbouring threads read neighbouring bytes, and several rows are in flight a thread.
//
// Sums: each block writes its own to the scratch memory; the last block of a chunk to finish adds them in
// the order of the blocks. Which block is the last changes from run to run, the order does not.

#include <algorithm>

#include "model/fused_norm.h"
#include "model/norm_device.cuh"

namespace maskfit::model {
namespace {

constexpr int kThreads = 512;
constexpr int kReducingBlocks = 264;      // two for each multiprocessor of an H100; fixed, so that sums are
constexpr int kElementwiseBlocks = 1056;  // the same on every GPU
constexpr int kChunkChannels = 128;       // at most
constexpr int kMaxSums = 3;
constexpr int kMaxChunks = 256;  // tickets; 32,768 channels

struct Walk {
  int chunks, vectors;  // 16-byte vectors of a chunk
  int lines;            // rows that a block reads at a time
  int blocks;           // of a chunk
};

template <typename T>
Walk walk_over(const Pixels& pixels, int all_blocks, int unroll) {
  const int vectors = pixels.channels / kLane<T>, most = kChunkChannels / kLane<T>;
  Walk walk{};
  walk.chunks = (vectors + most - 1) / most;
  walk.vectors = (vectors + walk.chunks - 1) / walk.chunks;
  walk.lines = kThreads / walk.vectors;
  const std::int64_t useful = (pixels.rows + walk.lines * unroll - 1) / (walk.lines * unroll);
  walk.blocks = static_cast<int>(
      std::max<std::int64_t>(1, std::min<std::int64_t>(useful, std::max(1, all_blocks / walk.chunks))));
  return walk;
}

// Where a thread works.
template <typename T>
struct Place {
  int chunk, vector, line;  // the vector within the chunk
  int channel;              // its first
  bool active;
  __device__ Place(const Walk& walk, int channels) {
    chunk = blockIdx.x % walk.chunks;
    vector = threadIdx.x % walk.vectors;
    line = threadIdx.x / walk.vectors;
    channel = (chunk * walk.vectors + vector) * kLane<T>;
    active = line < walk.lines && channel < channels;
  }
};

// Calls visit(row, slot) for the rows of a thread, kUnroll at a time: first load for all, then use.
template <int kUnroll, typename Load, typename Use>
__device__ void for_rows(const Walk& walk, int line, std::int64_t rows, Load load, Use use) {
  const int stride = walk.blocks * walk.lines;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x / walk.chunks) * walk.lines + line; row < rows;
       row += static_cast<std::int64_t>(stride) * kUnroll) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t here = row + static_cast<std::int64_t>(u) * stride;
      if (here < rows) load(here, u);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t here = row + static_cast<std::int64_t>(u) * stride;
      if (here < rows) use(here, u);
    }
  }
}

struct Scratch {
  unsigned* tickets;  // [kMaxChunks]
  float* sums;        // [chunk][block][sum][channels of the chunk]
};

Scratch scratch_of(void* memory) {
  unsigned* const tickets = static_cast<unsigned*>(memory);
  return {tickets, reinterpret_cast<float*>(tickets + kMaxChunks)};
}

// Adds the threads' sums over the block and then over the blocks of the chunk. Returns true in the block that
// finished last; there totals[sum * chunk channels + channel within the chunk] holds the totals.
template <typename T, int kSums>
__device__ bool reduce_sums(const Walk& walk, const Place<T>& place, const float (&own)[kSums][kLane<T>],
                            const Scratch& scratch, float* shared, double* totals) {
  const int width = walk.vectors * kLane<T>;  // channels of a chunk
  float* const mine = scratch.sums + static_cast<std::size_t>(blockIdx.x % walk.chunks * walk.blocks +
                                                              blockIdx.x / walk.chunks) *
                                         kSums * width;
  const int parts = kThreads / width, part = threadIdx.x / width, at = threadIdx.x % width;
  for (int s = 0; s < kSums; ++s) {
    if (place.line < walk.lines) {
#pragma unroll
      for (int i = 0; i < kLane<T>; ++i) {
        shared[place.line * width + place.vector * kLane<T> + i] = place.active ? own[s][i] : 0;
      }
    }
    __syncthreads();
    float sum = 0;
    if (part < parts) {
      for (int line = part; line < walk.lines; line += parts) sum += shared[line * width + at];
    }
    __syncthreads();
    if (part < parts) shared[part * width + at] = sum;
    __syncthreads();
    if (threadIdx.x < width) {
      float total = 0;
      for (int p = 0; p < parts; ++p) total += shared[p * width + threadIdx.x];
      mine[s * width + threadIdx.x] = total;
    }
    __syncthreads();
  }
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&scratch.tickets[place.chunk], 1u) == static_cast<unsigned>(walk.blocks - 1);
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  if (threadIdx.x == 0) scratch.tickets[place.chunk] = 0;
  const float* const all = scratch.sums + static_cast<std::size_t>(place.chunk) * walk.blocks * kSums * width;
  // Four neighbouring values a thread, so that a few loads in flight bring all blocks' sums.
  const int values = kSums * width, quads = values / 4, groups = kThreads / quads;
  double* const partial = reinterpret_cast<double*>(shared);  // [groups][values], at most 4 * threads
  if (static_cast<int>(threadIdx.x) < groups * quads) {
    const int quad = threadIdx.x % quads, group = threadIdx.x / quads;
    double sum[4] = {};
#pragma unroll 8
    for (int block = group; block < walk.blocks; block += groups) {
      const float4 four =
          __ldcg(reinterpret_cast<const float4*>(all + static_cast<std::size_t>(block) * values) + quad);
      sum[0] += four.x, sum[1] += four.y, sum[2] += four.z, sum[3] += four.w;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) partial[group * values + 4 * quad + i] = sum[i];
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < values) {
    double total = 0;
    for (int group = 0; group < groups; ++group) total += partial[group * values + threadIdx.x];
    totals[threadIdx.x] = total;
  }
  __syncthreads();
  return true;
}

constexpr int kSharedFloats = kThreads * 8;  // lines * width <= threads * kLane

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    statistics_kernel(Pixels pixels, Statistics job, Walk walk, Scratch scratch) {
  constexpr int kUnroll = 4;
  __shared__ __align__(16) float shared[kSharedFloats];
  __shared__ double totals[2 * kChunkChannels];
  const Place<T> place(walk, pixels.channels);
  // Squares of the distance from the first pixel, for the variance is a small difference of large sums where
  // the mean is far from 0.
  float origin[kLane<T>] = {}, own[2][kLane<T>] = {};
  if (place.active) {
    unpack(vector_at<T>(job.x, 0, pixels.channels, place.channel), origin, static_cast<const T*>(nullptr));
    uint4 raw[kUnroll];
    for_rows<kUnroll>(
        walk, place.line, pixels.rows,
        [&](std::int64_t row, int u) { raw[u] = vector_at<T>(job.x, row, pixels.channels, place.channel); },
        [&](std::int64_t, int u) {
          float x[kLane<T>];
          unpack(raw[u], x, static_cast<const T*>(nullptr));
#pragma unroll
          for (int i = 0; i < kLane<T>; ++i) {
            const float distance = x[i] - origin[i];
            own[0][i] += distance;
            own[1][i] = fmaf(distance, distance, own[1][i]);
          }
        });
  }
  if (!reduce_sums<T, 2>(walk, place, own, scratch, shared, totals)) return;
  const int width = walk.vectors * kLane<T>, channel = place.chunk * width + threadIdx.x;
  if (static_cast<int>(threadIdx.x) >= width || channel >= pixels.channels) return;
  const float first = static_cast<float>(static_cast<const T*>(job.x)[channel]);
  const double rows = static_cast<double>(pixels.rows);
  const double distance = totals[threadIdx.x] / rows, mean = first + distance;
  const double variance = fmax(0.0, totals[width + threadIdx.x] / rows - distance * distance);
  job.mean[channel] = static_cast<float>(mean);
  job.invstd[channel] = static_cast<float>(1 / sqrt(variance + job.epsilon));
  const double shown_mean = mean + (job.bias == nullptr ? 0.0f : job.bias[channel]), m = job.momentum;
  job.moving_mean[channel] = static_cast<float>(m * job.moving_mean[channel] + (1 - m) * shown_mean);
  job.moving_variance[channel] = static_cast<float>(m * job.moving_variance[channel] + (1 - m) * variance);
}

template <typename T, Shortcut kShortcut, bool kRelu>
__global__ void __launch_bounds__(kThreads, 2)
    normalise_kernel(Pixels pixels, Normalise job, void* y, Walk walk) {
  constexpr int kUnroll = kShortcut == Shortcut::kNone ? 4 : 2;
  constexpr const T* kType = nullptr;
  const Place<T> place(walk, pixels.channels);
  if (!place.active) return;
  const BeforeRelu<T, kShortcut> before(job, place.channel);
  uint4 raw[kUnroll], raw_other[kUnroll];
  for_rows<kUnroll>(
      walk, place.line, pixels.rows,
      [&](std::int64_t row, int u) {
        raw[u] = vector_at<T>(job.x, row, pixels.channels, place.channel);
        if constexpr (kShortcut != Shortcut::kNone) {
          raw_other[u] = vector_at<T>(job.other, row, pixels.channels, place.channel);
        }
      },
      [&](std::int64_t row, int u) {
        float x[kLane<T>], other[kLane<T>] = {}, out[kLane<T>];
        unpack(raw[u], x, kType);
        if constexpr (kShortcut != Shortcut::kNone) unpack(raw_other[u], other, kType);
#pragma unroll
        for (int i = 0; i < kLane<T>; ++i) {
          const float value = before.at(i, x[i], other[i]);
          out[i] = kRelu && value <= 0 ? 0 : value;  // a NaN stays one
        }
        store_at<T>(y, row, pixels.channels, place.channel, pack(out, kType));
      });
}

// Rows of each array that a thread of a backward kernel loads before it uses the first.
template <Shortcut kShortcut>
constexpr int kRowsInFlight = kShortcut == Shortcut::kNone ? 4 : 2;

template <typename T, Shortcut kShortcut, bool kRelu, Gradients kGradients>
__global__ void __launch_bounds__(kThreads)
    backward_sums_kernel(Pixels pixels, NormBackward job, Compact compact, Walk walk, Scratch scratch) {
  constexpr int kUnroll = kRowsInFlight<kShortcut>, kSums = kShortcut == Shortcut::kNormalised ? 3 : 2;
  constexpr const T* kType = nullptr;
  __shared__ __align__(16) float shared[kSharedFloats];
  __shared__ double totals[kSums * kChunkChannels];
  const Place<T> place(walk, pixels.channels);
  float own[kSums][kLane<T>] = {};  // of g, g * (x - mean), g * (other - its mean)
  if (place.active) {
    const BeforeRelu<T, kShortcut> before(job.forward, place.channel);
    float mean[kLane<T>], other_mean[kLane<T>];
#pragma unroll
    for (int i = 0; i < kLane<T>; ++i) {
      mean[i] = job.forward.norm.mean[place.channel + i];
      if constexpr (kSums == 3) other_mean[i] = job.forward.other_norm.mean[place.channel + i];
    }
    uint4 raw[kUnroll], raw_other[kUnroll];
    IncomingVector<T, kGradients> incoming[kUnroll];
    for_rows<kUnroll>(
        walk, place.line, pixels.rows,
        [&](std::int64_t row, int u) {
          incoming[u].load(job.incoming, compact, row, pixels.channels, place.channel);
          raw[u] = vector_at<T>(job.forward.x, row, pixels.channels, place.channel);
          if constexpr (kShortcut != Shortcut::kNone) {
            raw_other[u] = vector_at<T>(job.forward.other, row, pixels.channels, place.channel);
          }
        },
        [&](std::int64_t, int u) {
          float x[kLane<T>], other[kLane<T>] = {}, g[kLane<T>];
          incoming[u].sum(g);
          unpack(raw[u], x, kType);
          if constexpr (kShortcut != Shortcut::kNone) unpack(raw_other[u], other, kType);
#pragma unroll
          for (int i = 0; i < kLane<T>; ++i) {
            const float masked = !kRelu || before.at(i, x[i], other[i]) > 0 ? g[i] : 0;
            own[0][i] += masked;
            own[1][i] = fmaf(masked, x[i] - mean[i], own[1][i]);
            if constexpr (kSums == 3) own[2][i] = fmaf(masked, other[i] - other_mean[i], own[2][i]);
          }
        });
  }
  if (!reduce_sums<T, kSums>(walk, place, own, scratch, shared, totals)) return;
  const int width = walk.vectors * kLane<T>, channel = place.chunk * width + threadIdx.x;
  if (static_cast<int>(threadIdx.x) >= width || channel >= pixels.channels) return;
  job.to_beta[channel] = static_cast<float>(totals[threadIdx.x]);
  job.to_gamma[channel] = static_cast<float>(totals[width + threadIdx.x] * job.forward.norm.invstd[channel]);
  if constexpr (kSums == 3) {
    job.to_other_beta[channel] = static_cast<float>(totals[threadIdx.x]);
    job.to_other_gamma[channel] =
        static_cast<float>(totals[2 * width + threadIdx.x] * job.forward.other_norm.invstd[channel]);
  }
}

template <typename T, Shortcut kShortcut, bool kRelu, Gradients kGradients>
__global__ void __launch_bounds__(kThreads)
    backward_pixels_kernel(Pixels pixels, NormBackward job, Compact compact, Walk walk) {
  constexpr int kUnroll = kRowsInFlight<kShortcut>, kChannels = kLane<T>;
  constexpr const T* kType = nullptr;
  const Place<T> place(walk, pixels.channels);
  if (!place.active) return;
  const BeforeRelu<T, kShortcut> before(job.forward, place.channel);
  const float rows = static_cast<float>(pixels.rows);
  const InputGradient<kChannels> to_x(job.forward.norm, job.to_gamma, job.to_beta, rows, place.channel);
  InputGradient<kChannels> to_other;
  if constexpr (kShortcut == Shortcut::kNormalised) {
    to_other = InputGradient<kChannels>(job.forward.other_norm, job.to_other_gamma, job.to_beta, rows,
                                        place.channel);
  }
  uint4 raw[kUnroll], raw_other[kUnroll];
  IncomingVector<T, kGradients> incoming[kUnroll];
  for_rows<kUnroll>(
      walk, place.line, pixels.rows,
      [&](std::int64_t row, int u) {
        incoming[u].load(job.incoming, compact, row, pixels.channels, place.channel);
        raw[u] = vector_at<T>(job.forward.x, row, pixels.channels, place.channel);
        if constexpr (kShortcut != Shortcut::kNone) {
          raw_other[u] = vector_at<T>(job.forward.other, row, pixels.channels, place.channel);
        }
      },
      [&](std::int64_t row, int u) {
        float x[kChannels], other[kChannels] = {}, g[kChannels];
        incoming[u].sum(g);
        unpack(raw[u], x, kType);
        if constexpr (kShortcut != Shortcut::kNone) unpack(raw_other[u], other, kType);
#pragma unroll
        for (int i = 0; i < kChannels; ++i) {
          const float masked = !kRelu || before.at(i, x[i], other[i]) > 0 ? g[i] : 0;
          x[i] = to_x.at(i, masked, x[i]);
          if constexpr (kShortcut == Shortcut::kPlain) other[i] = masked;
          if constexpr (kShortcut == Shortcut::kNormalised) other[i] = to_other.at(i, masked, other[i]);
        }
        store_at<T>(job.to_x, row, pixels.channels, place.channel, pack(x, kType));
        if constexpr (kShortcut != Shortcut::kNone) {
          store_at<T>(job.to_other, row, pixels.channels, place.channel, pack(other, kType));
        }
      });
}

// Calls run(constant) with the shortcut and the ReLU as compile-time constants. Without a ReLU there is no
// shortcut.
template <Shortcut kShortcut, bool kRelu>
struct Shape {};
template <typename Run>
void with_shape(const Normalise& job, Run run) {
  if (job.shortcut == Shortcut::kPlain) return run(Shape<Shortcut::kPlain, true>());
  if (job.shortcut == Shortcut::kNormalised) return run(Shape<Shortcut::kNormalised, true>());
  job.relu ? run(Shape<Shortcut::kNone, true>()) : run(Shape<Shortcut::kNone, false>());
}

template <typename T, Shortcut kShortcut, bool kRelu, Gradients kGradients>
void launch_backward(const Pixels& pixels, const NormBackward& job, const Compact& compact,
                     const Scratch& scratch, CUstream_st* stream) {
  const Walk sums = walk_over<T>(pixels, kReducingBlocks, kRowsInFlight<kShortcut>);
  backward_sums_kernel<T, kShortcut, kRelu, kGradients>
      <<<sums.chunks * sums.blocks, kThreads, 0, stream>>>(pixels, job, compact, sums, scratch);
  if (job.to_x == nullptr) return;
  const Walk all = walk_over<T>(pixels, kElementwiseBlocks, kRowsInFlight<kShortcut>);
  backward_pixels_kernel<T, kShortcut, kRelu, kGradients>
      <<<all.chunks * all.blocks, kThreads, 0, stream>>>(pixels, job, compact, all);
}

constexpr const char* kNoSuchShape = "fused norm: a shortcut without a ReLU";

const char* refusal(const Pixels& pixels) {
  if (!fused_norm_takes(pixels.channels) || pixels.channels > kMaxChunks * kChunkChannels / 2) {
    return "fused norm: channels must be a multiple of 8";
  }
  return pixels.rows >= (1ll << 31) ? "fused norm: more than 2^31 pixels" : nullptr;
}

}  // namespace

std::int64_t fused_norm_scratch_bytes() {
  return kMaxChunks * sizeof(unsigned) +
         static_cast<std::int64_t>(kReducingBlocks + kMaxChunks) * kMaxSums * kChunkChannels * sizeof(float);
}

const char* statistics_cuda(const Pixels& pixels, const Statistics& job, void* scratch, CUstream_st* stream) {
  if (const char* refused = refusal(pixels)) return refused;
  with_type(pixels.storage, [&]<typename T>(T) {
    const Walk walk = walk_over<T>(pixels, kReducingBlocks, 4);
    statistics_kernel<T>
        <<<walk.chunks * walk.blocks, kThreads, 0, stream>>>(pixels, job, walk, scratch_of(scratch));
  });
  return last_error();
}

const char* normalise_cuda(const Pixels& pixels, const Normalise& job, void* y, CUstream_st* stream) {
  if (const char* refused = refusal(pixels)) return refused;
  if (!job.relu && job.shortcut != Shortcut::kNone) return kNoSuchShape;
  with_type(pixels.storage, [&]<typename T>(T) {
    const Walk walk = walk_over<T>(pixels, kElementwiseBlocks, 2);
    with_shape(job, [&]<Shortcut kShortcut, bool kRelu>(Shape<kShortcut, kRelu>) {
      normalise_kernel<T, kShortcut, kRelu>
          <<<walk.chunks * walk.blocks, kThreads, 0, stream>>>(pixels, job, y, walk);
    });
  });
  return last_error();
}

const char* norm_backward_cuda(const Pixels& pixels, const NormBackward& job, void* scratch,
                               CUstream_st* stream) {
  if (const char* refused = refusal(pixels)) return refused;
  if (!job.forward.relu && job.forward.shortcut != Shortcut::kNone) return kNoSuchShape;
  const Incoming& incoming = job.incoming;
  const Compact compact = compact_of(incoming);
  const Scratch memory = scratch_of(scratch);
  with_type(pixels.storage, [&]<typename T>(T) {
    with_shape(job.forward, [&]<Shortcut kShortcut, bool kRelu>(Shape<kShortcut, kRelu>) {
      if (incoming.second == nullptr) {
        launch_backward<T, kShortcut, kRelu, Gradients::kOne>(pixels, job, compact, memory, stream);
      } else if (incoming.stride == 1) {
        launch_backward<T, kShortcut, kRelu, Gradients::kTwo>(pixels, job, compact, memory, stream);
      } else {
        launch_backward<T, kShortcut, kRelu, Gradients::kCompact>(pixels, job, compact, memory, stream);
      }
    });
  });
  return last_error();
}

}  // namespace maskfit::model
