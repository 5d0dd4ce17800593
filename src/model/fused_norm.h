#pragma once

// Batch norm in as few passes over memory as it needs: statistics; normalise (+ shortcut) (+ ReLU); and
// backwards the sums, then the gradients. Plain pointers and sizes, no CUDA header and no LibTorch. Every
// function exists twice: `_on_cpu` in plain C++ for float32 defines it, `_cuda` queues kernels that equal it
// up to rounding (x.storage says how the pixels are kept; all arithmetic is float32).
//
// Pixels are [rows][channels], rows = N * H * W, channels a multiple of 8: channels-last memory. What belongs
// to a channel is float32 [channels]. Sums are made in two stages of a fixed order, without float atomics:
// the same input gives the same bits.

#include <cstdint>

struct CUstream_st;  // cudaStream_t points to one

namespace maskfit::model {

enum class Storage { kFloat32, kBfloat16, kFloat16 };

struct Pixels {
  std::int64_t rows = 0;
  int channels = 0;
  Storage storage = Storage::kFloat32;
};

// Whether the functions here take that many channels.
bool fused_norm_takes(int channels);

// One batch norm: x_hat = (x - mean) * invstd, out = gamma * x_hat + beta.
struct NormArrays {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* invstd = nullptr;
};

// Batch statistics with the biased variance, invstd = 1 / sqrt(variance + epsilon); then
// moving <- momentum * moving + (1 - momentum) * batch.
struct Statistics {
  const void* x = nullptr;  // [rows][channels]
  float epsilon = 1e-3f, momentum = 0.99f;
  const float* bias = nullptr;  // added to the mean that the moving mean sees; may be null
  float* mean = nullptr;        // written
  float* invstd = nullptr;      // written
  float* moving_mean = nullptr;
  float* moving_variance = nullptr;
};

// What is added to norm(x) before the ReLU.
enum class Shortcut {
  kNone,
  kPlain,       // the pixels themselves
  kNormalised,  // another batch norm of them
};

// y = relu(norm(x) + shortcut), or norm(x) alone; the kernels know no shortcut without a ReLU.
struct Normalise {
  const void* x = nullptr;
  NormArrays norm;
  Shortcut shortcut = Shortcut::kNone;
  const void* other = nullptr;  // [rows][channels] the shortcut's pixels
  NormArrays other_norm;        // kNormalised
  bool relu = true;
};

// dL/dy as its readers leave it: the sum of one or two gradients. The second may be compact, that of a
// reader of every `stride`-th row and column alone: [N][ceil(H / stride)][ceil(W / stride)][channels].
struct Incoming {
  const void* first = nullptr;   // [rows][channels]
  const void* second = nullptr;  // may be null
  int stride = 1;                // of the second
  int height = 0, width = 0;     // of y, where stride > 1
};

// With g = dL/dy where y > 0 (everywhere without ReLU), y computed again from x and the shortcut:
//   dL/dbeta = sum g, dL/dgamma = sum g * x_hat        (for both norms),
//   dL/dx = gamma * invstd * (g - dL/dbeta / rows - x_hat * dL/dgamma / rows), likewise for a normalised
//   shortcut; a plain one gets g.
struct NormBackward {
  Normalise forward;
  Incoming incoming;
  float* to_gamma = nullptr;        // written
  float* to_beta = nullptr;         // written
  float* to_other_gamma = nullptr;  // written with kNormalised
  float* to_other_beta = nullptr;   // written with kNormalised; the same numbers as to_beta
  void* to_x = nullptr;             // written; null without a shortcut: the sums alone are wanted
  void* to_other = nullptr;         // written unless kNone
};

void statistics_on_cpu(const Pixels& pixels, const Statistics& job);
void normalise_on_cpu(const Pixels& pixels, const Normalise& job, void* y);
void norm_backward_on_cpu(const Pixels& pixels, const NormBackward& job);

// Scratch memory of the kernels: zeros before the first call; each call leaves what the next one needs. One
// for all calls of a stream.
std::int64_t fused_norm_scratch_bytes();

// Queue on `stream` and return at once. nullptr when queued, else CUDA's error text. Exist only in a build
// with CUDA.
const char* statistics_cuda(const Pixels& pixels, const Statistics& job, void* scratch, CUstream_st* stream);
const char* normalise_cuda(const Pixels& pixels, const Normalise& job, void* y, CUstream_st* stream);
const char* norm_backward_cuda(const Pixels& pixels, const NormBackward& job, void* scratch,
                               CUstream_st* stream);

}  // namespace maskfit::model
