// The arrays' descriptions travel as a kernel's arguments, a few dozen a launch: nothing has to be copied to
// the device, and a recorded launch keeps them. A block has kChunk numbers of one array.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "train/update.h"

namespace maskfit::train {
namespace {

constexpr int kThreads = 256, kChunk = 8192;
constexpr int kArrays = 40;  // of a launch; its arguments must stay below 4 KiB
constexpr int kSums = 3;     // squares, penalty, numbers that are not finite

struct Batch {
  UpdateArray arrays[kArrays];
  int begin[kArrays + 1];  // first block of each
  int count;
};
static_assert(sizeof(Batch) < 3900);

int chunks_of(const UpdateArray& array) {
  return static_cast<int>((array.n + kChunk - 1) / kChunk);
}

// Calls run(batch, blocks, blocks before it) for all arrays.
template <typename Run>
void for_each_batch(std::span<const UpdateArray> arrays, bool with_gradient_only, Run run) {
  Batch batch{};
  int before = 0;
  const auto flush = [&] {
    if (batch.count > 0) run(batch, batch.begin[batch.count], before);
    before += batch.begin[batch.count];
    batch.count = 0;
  };
  for (const UpdateArray& array : arrays) {
    if (array.n == 0 || (with_gradient_only && array.gradient == nullptr)) continue;
    batch.arrays[batch.count] = array;
    batch.begin[batch.count + 1] = batch.begin[batch.count] + chunks_of(array);
    if (++batch.count == kArrays) flush();
  }
  flush();
}

__device__ int array_of(const Batch& batch) {
  int low = 0, high = batch.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (static_cast<int>(blockIdx.x) < batch.begin[middle] ? high : low) = middle;
  }
  return low;
}

__device__ float load(const void* values, GradientStorage storage, std::int64_t i) {
  if (storage == GradientStorage::kFloat32) return static_cast<const float*>(values)[i];
  if (storage == GradientStorage::kBfloat16) {
    return __bfloat162float(static_cast<const __nv_bfloat16*>(values)[i]);
  }
  return __half2float(static_cast<const __half*>(values)[i]);
}

__device__ void store(void* values, GradientStorage storage, std::int64_t i, float value) {
  if (storage == GradientStorage::kFloat32) static_cast<float*>(values)[i] = value;
  if (storage == GradientStorage::kBfloat16) static_cast<__nv_bfloat16*>(values)[i] = __float2bfloat16(value);
  if (storage == GradientStorage::kFloat16) static_cast<__half*>(values)[i] = __float2half(value);
}

__device__ float penalty_gradient(bool regularised, const UpdateRule& rule, float p) {
  if (!regularised || rule.penalty == Penalty::kNone) return 0;
  if (rule.penalty == Penalty::kL2) return 2 * rule.penalty_weight * p;
  return p > 0 ? rule.penalty_weight : p < 0 ? -rule.penalty_weight : 0;
}

__global__ void set_scalars_kernel(UpdateState* state, StepScalars scalars) {
  state->scalars = scalars;
  state->loss_scale = exp2f(state->exponent);
  state->unscale = exp2f(-state->exponent);
}

// Adds `value` over the block; valid in thread 0.
__device__ float block_sum(float value, float* shared) {
  for (int far = 16; far > 0; far /= 2) value += __shfl_down_sync(~0u, value, far);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kThreads / 32; ++i) sum += shared[i];
  }
  __syncthreads();
  return sum;
}

__global__ void measure_kernel(Batch batch, UpdateRule rule, const UpdateState* state, float* partial) {
  __shared__ float shared[kThreads / 32];
  const int which = array_of(batch);
  const UpdateArray& array = batch.arrays[which];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x - batch.begin[which]) * kChunk;
  const std::int64_t end = min(first + kChunk, array.n);
  const float unscale = state->unscale;
  float squares = 0, penalty = 0, broken = 0;
#pragma unroll 4
  for (std::int64_t i = first + threadIdx.x; i < end; i += kThreads) {
    const float raw = load(array.gradient, array.gradient_storage, i) * unscale;
    const float p = array.parameter[i];
    if (!isfinite(raw)) broken = 1;
    const float g = raw + penalty_gradient(array.regularised, rule, p);
    squares = fmaf(g, g, squares);
    if (array.regularised) penalty += rule.penalty == Penalty::kL1 ? fabsf(p) : p * p;
  }
  squares = block_sum(squares, shared);
  penalty = block_sum(penalty, shared);
  broken = block_sum(broken, shared);
  if (threadIdx.x > 0) return;
  partial[kSums * blockIdx.x] = squares;
  partial[kSums * blockIdx.x + 1] = penalty;
  partial[kSums * blockIdx.x + 2] = broken;
}

__global__ void decide_kernel(const float* partial, int blocks, UpdateRule rule, UpdateState* state,
                              const float* task, float* numbers) {
  __shared__ double sums[kSums][kThreads];
  for (int s = 0; s < kSums; ++s) {
    double sum = 0;
    for (int block = threadIdx.x; block < blocks; block += kThreads) sum += partial[kSums * block + s];
    sums[s][threadIdx.x] = sum;
  }
  __syncthreads();
  for (int far = kThreads / 2; far > 0; far /= 2) {
    if (static_cast<int>(threadIdx.x) < far) {
      for (int s = 0; s < kSums; ++s) sums[s][threadIdx.x] += sums[s][threadIdx.x + far];
    }
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  const bool finite = !rule.scaled || sums[2][0] == 0;
  const float penalty =
      rule.penalty == Penalty::kNone ? 0 : static_cast<float>(rule.penalty_weight * sums[1][0]);
  const float norm = finite ? static_cast<float>(sqrt(sums[0][0])) : 0;
  const bool sound =
      isfinite(*task) && isfinite(penalty) && isfinite(norm) && norm <= state->scalars.norm_limit;
  state->finite = finite ? 1 : 0;
  state->penalty = penalty;
  state->norm = norm;
  state->sick = sound ? 0 : 1;
  state->shrink = rule.max_norm > 0 ? fminf(1, rule.max_norm / (norm + 1e-6f)) : 1;
  if (rule.scaled) {
    state->exponent += finite ? rule.increment : -rule.decrement;
    state->bad_steps += finite ? 0 : 1;
  }
  numbers[0] = *task, numbers[1] = penalty, numbers[2] = norm;
}

__global__ void apply_kernel(Batch batch, UpdateRule rule, const UpdateState* state) {
  const int which = array_of(batch);
  const UpdateArray& array = batch.arrays[which];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x - batch.begin[which]) * kChunk;
  const std::int64_t end = min(first + kChunk, array.n);
  const StepScalars s = state->scalars;
  const bool moves = array.gradient != nullptr && state->sick == 0;
  const float unscale = state->unscale, shrink = state->shrink;
  const bool finite = state->finite != 0;
  const float kept = array.decays ? 1 - s.learning_rate * rule.decay : 1;
#pragma unroll 4
  for (std::int64_t i = first + threadIdx.x; i < end; i += kThreads) {
    float p = array.parameter[i];
    if (moves) {
      const float raw = load(array.gradient, array.gradient_storage, i) * unscale +
                        penalty_gradient(array.regularised, rule, p);
      const float g = finite ? raw * shrink : 0;
      const float m = rule.beta1 * array.first[i] + (1 - rule.beta1) * g;
      const float v = rule.beta2 * array.second[i] + (1 - rule.beta2) * g * g;
      array.first[i] = m;
      array.second[i] = v;
      p = kept * p - s.step_size * m / (sqrtf(v) * s.root_scale + rule.epsilon);
      array.parameter[i] = p;
      if (array.copy != nullptr) store(array.copy, array.copy_storage, i, p);
    }
    if (array.average != nullptr) array.average[i] += s.average_weight * (p - array.average[i]);
  }
}

const char* last_error() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace

std::int64_t update_scratch_bytes(std::span<const UpdateArray> arrays) {
  std::int64_t blocks = 1;
  for (const UpdateArray& array : arrays) blocks += chunks_of(array);
  return blocks * kSums * static_cast<std::int64_t>(sizeof(float));
}

const char* set_step_scalars_cuda(UpdateState* state, const StepScalars& scalars, CUstream_st* stream) {
  set_scalars_kernel<<<1, 1, 0, stream>>>(state, scalars);
  return last_error();
}

const char* measure_update_cuda(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                                UpdateState* state, const float* task, float* numbers, void* scratch,
                                CUstream_st* stream) {
  float* const partial = static_cast<float*>(scratch);
  int all = 0;
  for_each_batch(arrays, /*with_gradient_only=*/true, [&](const Batch& batch, int blocks, int before) {
    measure_kernel<<<blocks, kThreads, 0, stream>>>(batch, rule, state, partial + kSums * before);
    all = before + blocks;
  });
  decide_kernel<<<1, kThreads, 0, stream>>>(partial, all, rule, state, task, numbers);
  return last_error();
}

const char* apply_update_cuda(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                              const UpdateState* state, CUstream_st* stream) {
  for_each_batch(arrays, /*with_gradient_only=*/false, [&](const Batch& batch, int blocks, int) {
    apply_kernel<<<blocks, kThreads, 0, stream>>>(batch, rule, state);
  });
  return last_error();
}

}  // namespace maskfit::train
