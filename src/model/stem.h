#pragma once

// The first convolution reads a picture of 3 channels, for which matrix units have no shape. With stride 2 it
// equals a convolution of stride 1 over blocks of 2 x 2 pixels taken as channels: a 7 x 7 window becomes 4 x
// 4 blocks of 12 channels, kept as 16. Exact but for the order of the sums. Plain pointers and sizes;
// `_on_cpu` defines, `_cuda` equals it.

#include <cstdint>

#include "model/fused_norm.h"

namespace maskfit::model {

// Blocks that a window of `kernel` pixels with stride 2 and padding kernel / 2 touches, along one side, and
// how many of them lie before and after the block of the output pixel. REQUIRES an odd kernel.
struct StemWindow {
  int blocks, before, after;
};
StemWindow stem_window(int kernel);

// 4 * channels, rounded up to a multiple of 8.
int stem_channels(int channels);

// A batch of pictures; strides in elements.
struct StemPictures {
  const void* pixels = nullptr;
  Storage storage = Storage::kFloat32;
  int count = 0, channels = 3, height = 0, width = 0;  // height and width even
  std::int64_t picture_stride = 0, channel_stride = 0, line_stride = 0, column_stride = 0;
};

// out: [count][height / 2 + blocks - 1][width / 2 + blocks - 1][stem_channels], the window's border included;
// channel (2 * (line within the block) + column within the block) * channels + channel of the picture. Border
// and spare channels are 0.
void fold_pictures_on_cpu(const StemPictures& pictures, int kernel, float* out);
const char* fold_pictures_cuda(const StemPictures& pictures, int kernel, void* out, Storage storage,
                               CUstream_st* stream);

// weights: float32 [filters][kernel][kernel][channels]; folded: [filters][blocks][blocks][stem_channels].
// Places that no weight belongs to become 0.
void fold_weights_on_cpu(const float* weights, int filters, int channels, int kernel, float* folded);
const char* fold_weights_cuda(const float* weights, int filters, int channels, int kernel, void* folded,
                              Storage storage, CUstream_st* stream);

// The gradient with respect to the weights from that with respect to the folded ones.
void unfold_gradient_on_cpu(const float* folded, int filters, int channels, int kernel, float* weights);
const char* unfold_gradient_cuda(const void* folded, Storage storage, int filters, int channels, int kernel,
                                 float* weights, CUstream_st* stream);

// Where weight (line, column, channel) of a filter lies in the folded filter.
inline int folded_place(int kernel, int channels, int line, int column, int channel) {
  const StemWindow window = stem_window(kernel);
  const int first = kernel / 2 + kernel / 2 % 2;  // pixels from the first block to the output pixel's block
  const int y = line + first - kernel / 2, x = column + first - kernel / 2;
  return ((y / 2 * window.blocks + x / 2) * stem_channels(channels)) + (y % 2 * 2 + x % 2) * channels +
         channel;
}

}  // namespace maskfit::model
