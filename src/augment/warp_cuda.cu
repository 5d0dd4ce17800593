// One thread an output pixel. A block is 32 x 8 pixels, so that a warp reads neighbouring places of a canvas
// and writes neighbouring pixels of the batch; blockIdx.z is the item.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "augment/warp_cuda.h"

namespace maskfit::augment {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;
constexpr float kPerLevel = 1.0f / 255.0f;

// As in apply.cpp: what lies far outside is moved to just outside, where all neighbours are fill as well.
struct Between {
  int low;
  float weight_high;
};

__device__ Between between(float place, int length) {
  const float inside = fminf(fmaxf(place, -2.0f), static_cast<float>(length));
  const float low = floorf(inside);
  return {static_cast<int>(low), inside - low};
}

template <int kColors>
__device__ void sample(const std::uint8_t* canvas, int height, int width, float sx, float sy, float fill,
                       float* out) {
  const Between column = between(sx, width), row = between(sy, height);
#pragma unroll
  for (int c = 0; c < kColors; ++c) out[c] = 0;
#pragma unroll
  for (int dy = 0; dy < 2; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 2; ++dx) {
      const int x = column.low + dx, y = row.low + dy;
      const float weight =
          (dx ? column.weight_high : 1 - column.weight_high) * (dy ? row.weight_high : 1 - row.weight_high);
      const bool inside = x >= 0 && x < width && y >= 0 && y < height;
      const std::uint8_t* pixel = canvas + (static_cast<std::size_t>(y) * width + x) * kColors;
#pragma unroll
      for (int c = 0; c < kColors; ++c) out[c] += weight * (inside ? __ldg(pixel + c) * kPerLevel : fill);
    }
  }
}

__device__ void transform_color(const float* k, float* rgb) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
#pragma unroll
  for (int c = 0; c < 3; ++c) rgb[c] = __saturatef(r * k[c] + g * k[3 + c] + b * k[6 + c] + k[9 + c]);
}

template <class T>
__device__ T convert(float x);
template <>
__device__ float convert<float>(float x) {
  return x;
}
template <>
__device__ __half convert<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __nv_bfloat16 convert<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

// The pixels of an output row lie next to each other (NHWC) or in planes (NCHW): stride_pixel and
// stride_channel.
struct Geometry {
  int height, width, channels;
  int source_height, source_width;
  std::size_t stride_item, stride_row, stride_pixel, stride_channel;
};

template <int kColors, class T>
__global__ void warp_kernel(const std::uint8_t* canvases, const WarpTile* tiles, const WarpItem* items,
                            T* out, Geometry g) {
  const int x = blockIdx.x * kBlockWidth + threadIdx.x, y = blockIdx.y * kBlockHeight + threadIdx.y;
  if (x >= g.width || y >= g.height) return;
  const WarpItem& item = items[blockIdx.z];
  float color[kColors];
#pragma unroll
  for (int c = 0; c < kColors; ++c) color[c] = item.fill;
  for (int t = item.first_tile; t < item.first_tile + item.tile_count; ++t) {
    const WarpTile& tile = tiles[t];
    if (x < tile.x1 || x >= tile.x2 || y < tile.y1 || y >= tile.y2) continue;
    const float* m = tile.source_from_output;
    const float px = x + 0.5f, py = y + 0.5f;
    const std::size_t canvas = static_cast<std::size_t>(g.source_height) * g.source_width * kColors;
    sample<kColors>(canvases + tile.sample * canvas, g.source_height, g.source_width,
                    px * m[0] + py * m[2] + m[4] - 0.5f, px * m[1] + py * m[3] + m[5] - 0.5f, item.fill,
                    color);
  }
  if (kColors == 3) transform_color(item.color, color);
  T* pixel = out + blockIdx.z * g.stride_item + y * g.stride_row + x * g.stride_pixel;
#pragma unroll
  for (int c = 0; c < kColors; ++c) pixel[c * g.stride_channel] = convert<T>(color[c]);
  for (int c = kColors; c < g.channels; ++c) pixel[c * g.stride_channel] = convert<T>(0.0f);
}

Geometry geometry_of(const WarpSource& source, const WarpOutput& output) {
  Geometry g{output.height, output.width, output.channels, source.height, source.width, 0, 0, 0, 0};
  const std::size_t area = static_cast<std::size_t>(output.height) * output.width;
  const bool planes = output.layout == PixelLayout::kNchw;
  g.stride_item = area * output.channels;
  g.stride_pixel = planes ? 1 : output.channels;
  g.stride_row = g.stride_pixel * output.width;
  g.stride_channel = planes ? area : 1;
  return g;
}

template <class T>
void launch(const WarpSource& source, const WarpTile* tiles, const WarpItem* items, const WarpOutput& output,
            cudaStream_t stream) {
  const dim3 block(kBlockWidth, kBlockHeight);
  const dim3 grid((output.width + kBlockWidth - 1) / kBlockWidth,
                  (output.height + kBlockHeight - 1) / kBlockHeight, output.count);
  const Geometry geometry = geometry_of(source, output);
  T* pixels = static_cast<T*>(output.pixels);
  if (source.channels == 3) {
    warp_kernel<3><<<grid, block, 0, stream>>>(source.canvases, tiles, items, pixels, geometry);
  } else {
    warp_kernel<1><<<grid, block, 0, stream>>>(source.canvases, tiles, items, pixels, geometry);
  }
}

}  // namespace

const char* warp_cuda(const WarpSource& source, const WarpTile* tiles, const WarpItem* items,
                      const WarpOutput& output, CUstream_st* stream) {
  if (source.channels != 3 && source.channels != 1) return "warp: the source needs 3 or 1 channels";
  if (output.channels < source.channels) return "warp: the output has fewer channels than the source";
  if (output.count == 0) return nullptr;
  switch (output.type) {
    case PixelType::kFloat32:
      launch<float>(source, tiles, items, output, stream);
      break;
    case PixelType::kFloat16:
      launch<__half>(source, tiles, items, output, stream);
      break;
    case PixelType::kBFloat16:
      launch<__nv_bfloat16>(source, tiles, items, output, stream);
      break;
  }
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace maskfit::augment
