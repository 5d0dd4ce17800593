#pragma once

// The first convolution itself, over folded pictures (stem.h), with the batch norm around it: forward, the
// batch statistics are made from the pixels as they are written; backward, the gradient of the pixels goes
// from the norm straight into the gradient of the weights and is never written, because nobody else needs it.
// Matrix units, bfloat16 or float16 pixels, float32 sums in a fixed order. Plain pointers and sizes.

#include <cstdint>

#include "model/fused_norm.h"

namespace maskfit::model {

struct StemConv {
  int count = 0, lines = 0, columns = 0;  // of the output
  int filters = 0;
  int kernel = 7, channels = 3;  // of the unfolded convolution
  Storage storage = Storage::kBfloat16;
};

// 8, 16, ... 64 filters, windows up to 7 x 7, 3 channels, 16-bit pixels, lines that fit into shared memory.
bool stem_conv_takes(const StemConv& conv);
// Whether the current GPU has the shared memory for it; only in a build with CUDA.
bool stem_conv_fits_gpu(const StemConv& conv);

// pictures: fold_pictures; weights: [filters][blocks][blocks][16]; y: [count][lines][columns][filters].
// statistics.x is not read; the moving mean must be finite.
void stem_forward_on_cpu(const StemConv& conv, const float* pictures, const float* weights, float* y,
                         const Statistics& statistics);
const char* stem_forward_cuda(const StemConv& conv, const void* pictures, const void* weights, void* y,
                              const Statistics& statistics, void* scratch, CUstream_st* stream);

// The gradient of the weights, float32 [filters][kernel][kernel][channels], from a norm whose sums are there:
// norm.to_gamma and to_beta are read, to_x is not written. REQUIRES Shortcut::kNone.
void stem_backward_on_cpu(const StemConv& conv, const float* pictures, const NormBackward& norm,
                          float* to_weights);
const char* stem_backward_cuda(const StemConv& conv, const void* pictures, const NormBackward& norm,
                               float* to_weights, void* scratch, CUstream_st* stream);

// Scratch memory of the two; no particular contents.
std::int64_t stem_scratch_bytes();

}  // namespace maskfit::model
