// One thread an element pair or a pixel; all of it together is small beside the convolution.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "model/stem.h"

namespace maskfit::model {
namespace {

constexpr int kThreads = 256;

struct Window {  // StemWindow is of the host
  int blocks, before;
};
Window window_of(int kernel) {
  const StemWindow window = stem_window(kernel);
  return {window.blocks, window.before};
}

// One thread a block of 2 x 2 pixels; a warp reads neighbouring pixels and writes neighbouring blocks.
template <typename In, typename Out, int kDepth>
__global__ void __launch_bounds__(kThreads)
    fold_pictures_kernel(StemPictures pictures, Window window, int lines, int columns, Out* out) {
  const int column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= columns) return;
  const int line = blockIdx.y, picture = blockIdx.z;
  const int y = line - window.before, x = column - window.before;
  alignas(16) Out values[kDepth];
#pragma unroll
  for (int i = 0; i < kDepth; ++i) values[i] = Out(0.0f);
  if (y >= 0 && x >= 0 && y < pictures.height / 2 && x < pictures.width / 2) {
    const In* const pixels = static_cast<const In*>(pictures.pixels) + picture * pictures.picture_stride +
                             2 * y * pictures.line_stride + 2 * x * pictures.column_stride;
    constexpr int kChannels = kDepth == 16 ? 3 : 1;
#pragma unroll
    for (int i = 0; i < 4 * kChannels; ++i) {
      const int place = i / kChannels;
      values[i] = Out(
          static_cast<float>(pixels[i % kChannels * pictures.channel_stride +
                                    place / 2 * pictures.line_stride + place % 2 * pictures.column_stride]));
    }
  }
  uint4* const to = reinterpret_cast<uint4*>(
      out + ((static_cast<std::int64_t>(picture) * lines + line) * columns + column) * kDepth);
#pragma unroll
  for (int i = 0; i < static_cast<int>(kDepth * sizeof(Out) / 16); ++i) {
    to[i] = reinterpret_cast<const uint4*>(values)[i];
  }
}

struct Filters {
  int filters, channels, kernel, blocks, depth, first;  // first: see folded_place()
};
Filters filters_of(int filters, int channels, int kernel) {
  const int p = kernel / 2;
  return {filters, channels, kernel, stem_window(kernel).blocks, stem_channels(channels), p + p % 2};
}

// Where element `i` of a folded filter comes from, or -1.
__device__ int source_of(const Filters& f, int i) {
  const int deep = i % f.depth, block = i / f.depth, place = deep / f.channels;
  if (place >= 4) return -1;
  const int line = block / f.blocks * 2 + place / 2 - f.first + f.kernel / 2;
  const int column = block % f.blocks * 2 + place % 2 - f.first + f.kernel / 2;
  if (line < 0 || column < 0 || line >= f.kernel || column >= f.kernel) return -1;
  return (line * f.kernel + column) * f.channels + deep % f.channels;
}

template <typename Out>
__global__ void fold_weights_kernel(const float* weights, Filters f, Out* folded) {
  const int size = f.blocks * f.blocks * f.depth, at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= f.filters * size) return;
  const int source = source_of(f, at % size);
  folded[at] = Out(source < 0 ? 0.0f : weights[at / size * f.kernel * f.kernel * f.channels + source]);
}

template <typename In>
__global__ void unfold_gradient_kernel(const In* folded, Filters f, float* weights) {
  const int size = f.blocks * f.blocks * f.depth, at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= f.filters * size) return;
  const int source = source_of(f, at % size);
  if (source >= 0) {
    weights[at / size * f.kernel * f.kernel * f.channels + source] = static_cast<float>(folded[at]);
  }
}

template <typename Run>
void with_type(Storage storage, Run run) {
  if (storage == Storage::kFloat32) run(float());
  if (storage == Storage::kBfloat16) run(__nv_bfloat16());
  if (storage == Storage::kFloat16) run(__half());
}

const char* last_error() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

int blocks_for(const Filters& f) {
  return (f.filters * f.blocks * f.blocks * f.depth + kThreads - 1) / kThreads;
}

}  // namespace

const char* fold_pictures_cuda(const StemPictures& pictures, int kernel, void* out, Storage storage,
                               CUstream_st* stream) {
  const StemWindow window = stem_window(kernel);
  const int lines = pictures.height / 2 + window.blocks - 1;
  const int columns = pictures.width / 2 + window.blocks - 1;
  if (pictures.channels != 1 && pictures.channels != 3) return "stem: pictures have 1 or 3 channels";
  if (pictures.count > 65535 || lines > 65535) return "stem: more than 65535 pictures or lines";
  const dim3 grid((columns + kThreads - 1) / kThreads, lines, pictures.count);
  with_type(pictures.storage, [&]<typename In>(In) {
    with_type(storage, [&]<typename Out>(Out) {
      if (pictures.channels == 3) {
        fold_pictures_kernel<In, Out, 16><<<grid, kThreads, 0, stream>>>(pictures, window_of(kernel), lines,
                                                                         columns, static_cast<Out*>(out));
      } else {
        fold_pictures_kernel<In, Out, 8><<<grid, kThreads, 0, stream>>>(pictures, window_of(kernel), lines,
                                                                        columns, static_cast<Out*>(out));
      }
    });
  });
  return last_error();
}

const char* fold_weights_cuda(const float* weights, int filters, int channels, int kernel, void* folded,
                              Storage storage, CUstream_st* stream) {
  const Filters f = filters_of(filters, channels, kernel);
  with_type(storage, [&]<typename Out>(Out) {
    fold_weights_kernel<<<blocks_for(f), kThreads, 0, stream>>>(weights, f, static_cast<Out*>(folded));
  });
  return last_error();
}

const char* unfold_gradient_cuda(const void* folded, Storage storage, int filters, int channels, int kernel,
                                 float* weights, CUstream_st* stream) {
  const Filters f = filters_of(filters, channels, kernel);
  with_type(storage, [&]<typename In>(In) {
    unfold_gradient_kernel<<<blocks_for(f), kThreads, 0, stream>>>(static_cast<const In*>(folded), f,
                                                                   weights);
  });
  return last_error();
}

}  // namespace maskfit::model
