#pragma once

// One step of the optimiser over all arrays, in three passes: measure (what the monitor and clipping want to
// know), decide, apply. Everything that changes from step to step lies in device memory, so that a step can
// be recorded once and replayed. Plain pointers and sizes, no CUDA header and no LibTorch; `_on_cpu` (float32
// gradients, no copies) defines, `_cuda` equals it up to rounding. The formulas of Adam are optimizer.h's.

#include <cstdint>
#include <span>

struct CUstream_st;  // cudaStream_t points to one

namespace maskfit::train {

enum class GradientStorage : std::int32_t { kFloat32, kBfloat16, kFloat16 };

// n numbers of each, in one layout. A moving statistic has neither gradient nor moments: it is averaged only.
struct UpdateArray {
  float* parameter = nullptr;
  const void* gradient = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  float* average = nullptr;  // null: no average is kept
  void* copy = nullptr;      // of the parameter in the type of the convolutions; null: none
  std::int64_t n = 0;
  GradientStorage gradient_storage = GradientStorage::kFloat32;
  GradientStorage copy_storage = GradientStorage::kBfloat16;
  bool regularised = false, decays = false;
};

enum class Penalty : std::int32_t { kNone, kL1, kL2 };  // weight * sum |p|, weight * sum p^2

// The same in every step.
struct UpdateRule {
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0;
  Penalty penalty = Penalty::kNone;
  float penalty_weight = 0;
  float max_norm = 0;   // gradients are shrunk to it; 0: never
  bool scaled = false;  // the gradients are those of the loss times 2^exponent (spec 4.5)
  float increment = 0, decrement = 0;
};

// Of one step, written by the host.
struct StepScalars {
  float learning_rate = 0;
  float step_size = 0;       // on m / denominator, see AdamFactors
  float root_scale = 1;      // denominator = sqrt(v) * root_scale + epsilon
  float average_weight = 0;  // average <- average + weight * (parameter - average)
  float norm_limit = 0;      // a gradient of a larger norm changes no weight
};

// Lives on the device from step to step.
struct UpdateState {
  StepScalars scalars;
  float exponent = 0;                 // of the loss's scale; the host sets it once
  float bad_steps = 0;                // whose scaled gradients were not finite
  float loss_scale = 1, unscale = 1;  // 2^exponent, 2^-exponent
  // Of the last step:
  float penalty = 0, norm = 0;  // of all gradients, the penalty's included, before clipping
  float sick = 0;               // 1: a number is not finite or the norm is over its limit
  float finite = 1;             // 0: scaled gradients were not; they count as zeros
  float shrink = 1;             // by which clipping multiplies
};

// penalty, norm and finite from the arrays; then sick, shrink and the loss's next scale. task: the loss, one
// number. numbers: task, penalty, norm.
void measure_update_on_cpu(std::span<const UpdateArray> arrays, const UpdateRule& rule, UpdateState* state,
                           const float* task, float* numbers);
// Parameters, moments and copies, unless the step is sick; then averages.
void apply_update_on_cpu(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                         const UpdateState& state);

std::int64_t update_scratch_bytes(std::span<const UpdateArray> arrays);

// All pointers, those of `arrays` too, are device pointers; `arrays` itself is read before the call returns.
// Queue on `stream`; nullptr or CUDA's error text. Exist only in a build with CUDA.
const char* set_step_scalars_cuda(UpdateState* state, const StepScalars& scalars, CUstream_st* stream);
const char* measure_update_cuda(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                                UpdateState* state, const float* task, float* numbers, void* scratch,
                                CUstream_st* stream);
const char* apply_update_cuda(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                              const UpdateState* state, CUstream_st* stream);

}  // namespace maskfit::train
