#pragma once

// What the kernels of the batch norms share: 16 bytes of pixels in registers, the arithmetic of a norm for
// the channels of a thread, and the gradients that come in. For *.cu files alone.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "model/fused_norm.h"

namespace maskfit::model {

// Values in 16 bytes: the channels of a thread.
template <typename T>
constexpr int kLane = 16 / sizeof(T);

__device__ inline void unpack(const uint4& raw, float (&v)[4], const float*) {
  v[0] = __uint_as_float(raw.x), v[1] = __uint_as_float(raw.y);
  v[2] = __uint_as_float(raw.z), v[3] = __uint_as_float(raw.w);
}
__device__ inline void unpack(const uint4& raw, float (&v)[8], const __nv_bfloat16*) {
  const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = __uint_as_float(words[i] << 16);
    v[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
}
__device__ inline void unpack(const uint4& raw, float (&v)[8], const __half*) {
  const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&words[i]));
    v[2 * i] = pair.x, v[2 * i + 1] = pair.y;
  }
}
__device__ inline uint4 pack(const float (&v)[4], const float*) {
  return {__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]), __float_as_uint(v[3])};
}
__device__ inline uint4 pack(const float (&v)[8], const __nv_bfloat16*) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(v[2 * i], v[2 * i + 1]);
    words[i] = *reinterpret_cast<const unsigned*>(&pair);
  }
  return {words[0], words[1], words[2], words[3]};
}
__device__ inline uint4 pack(const float (&v)[8], const __half*) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __floats2half2_rn(v[2 * i], v[2 * i + 1]);
    words[i] = *reinterpret_cast<const unsigned*>(&pair);
  }
  return {words[0], words[1], words[2], words[3]};
}

template <typename T>
__device__ inline uint4 vector_at(const void* base, std::int64_t row, int channels, int channel) {
  return __ldg(reinterpret_cast<const uint4*>(static_cast<const T*>(base) + row * channels + channel));
}
template <typename T>
__device__ inline void store_at(void* base, std::int64_t row, int channels, int channel, const uint4& raw) {
  *reinterpret_cast<uint4*>(static_cast<T*>(base) + row * channels + channel) = raw;
}

// What the ReLU reads, for a thread's channels.
template <typename T, Shortcut kShortcut>
struct BeforeRelu {
  static constexpr int kChannels = kLane<T>;
  float scale[kChannels], other_scale[kChannels], offset[kChannels];
  __device__ BeforeRelu(const Normalise& job, int channel) {
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const int c = channel + i;
      scale[i] = job.norm.gamma[c] * job.norm.invstd[c];
      offset[i] = job.norm.beta[c] - scale[i] * job.norm.mean[c];
      if constexpr (kShortcut == Shortcut::kNormalised) {
        other_scale[i] = job.other_norm.gamma[c] * job.other_norm.invstd[c];
        offset[i] += job.other_norm.beta[c] - other_scale[i] * job.other_norm.mean[c];
      }
    }
  }
  __device__ float at(int i, float x, float shortcut) const {
    const float value = fmaf(x, scale[i], offset[i]);
    if constexpr (kShortcut == Shortcut::kNone) return value;
    if constexpr (kShortcut == Shortcut::kPlain) return value + shortcut;
    return fmaf(shortcut, other_scale[i], value);
  }
};

// dL/dx = scale * g + slope * x + offset for a thread's channels.
template <int kChannels>
struct InputGradient {
  float scale[kChannels], slope[kChannels], offset[kChannels];
  __device__ InputGradient() {}
  __device__ InputGradient(const NormArrays& norm, const float* to_gamma, const float* to_beta, float rows,
                           int channel) {
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const int c = channel + i;
      scale[i] = norm.gamma[c] * norm.invstd[c];
      slope[i] = -scale[i] * norm.invstd[c] * (to_gamma[c] / rows);
      offset[i] = -scale[i] * (to_beta[c] / rows) - slope[i] * norm.mean[c];
    }
  }
  __device__ float at(int i, float g, float x) const {
    return fmaf(scale[i], g, fmaf(slope[i], x, offset[i]));
  }
};

enum class Gradients { kOne, kTwo, kCompact };

// Unsigned division by a number that is the same for all threads.
struct Divisor {
  unsigned value, shift, factor;
  Divisor(unsigned d = 1) : value(d), shift(0), factor(0) {
    while ((1ull << shift) < d) ++shift;
    factor = static_cast<unsigned>(((1ull << 32) * ((1ull << shift) - d)) / d + 1);
  }
  __device__ unsigned divide(unsigned n) const { return (__umulhi(n, factor) + n) >> shift; }
};

struct Compact {
  Divisor width, height, stride;
  int columns, lines;
};

// The row of a compact gradient for a row of the full one, or -1.
__device__ inline std::int64_t compact_row(const Compact& compact, std::int64_t row) {
  const unsigned r = static_cast<unsigned>(row), all_lines = compact.width.divide(r);
  const unsigned column = r - all_lines * compact.width.value;
  const unsigned picture = compact.height.divide(all_lines);
  const unsigned line = all_lines - picture * compact.height.value;
  const unsigned small_column = compact.stride.divide(column), small_line = compact.stride.divide(line);
  if (small_column * compact.stride.value != column || small_line * compact.stride.value != line) return -1;
  return (static_cast<std::int64_t>(picture) * compact.lines + small_line) * compact.columns + small_column;
}

inline Compact compact_of(const Incoming& incoming) {
  if (incoming.second == nullptr || incoming.stride <= 1) return {};
  const int stride = incoming.stride;
  return {Divisor(incoming.width), Divisor(incoming.height), Divisor(stride),
          (incoming.width + stride - 1) / stride, (incoming.height + stride - 1) / stride};
}

template <typename T, Gradients kGradients>
struct IncomingVector {
  uint4 first, second;
  __device__ void load(const Incoming& incoming, const Compact& compact, std::int64_t row, int channels,
                       int channel) {
    first = vector_at<T>(incoming.first, row, channels, channel);
    if constexpr (kGradients == Gradients::kTwo) {
      second = vector_at<T>(incoming.second, row, channels, channel);
    }
    if constexpr (kGradients == Gradients::kCompact) {
      const std::int64_t small = compact_row(compact, row);
      second = small < 0 ? uint4{0, 0, 0, 0} : vector_at<T>(incoming.second, small, channels, channel);
    }
  }
  __device__ void sum(float (&g)[kLane<T>]) const {
    constexpr const T* kType = nullptr;
    unpack(first, g, kType);
    if constexpr (kGradients != Gradients::kOne) {
      float more[kLane<T>];
      unpack(second, more, kType);
#pragma unroll
      for (int i = 0; i < kLane<T>; ++i) g[i] += more[i];
    }
  }
};

inline const char* last_error() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

// Calls run(T()) with the type of the pixels.
template <typename Run>
void with_type(Storage storage, Run run) {
  if (storage == Storage::kFloat32) run(float());
  if (storage == Storage::kBfloat16) run(__nv_bfloat16());
  if (storage == Storage::kFloat16) run(__half());
}

}  // namespace maskfit::model
