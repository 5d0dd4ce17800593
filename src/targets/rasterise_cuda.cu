// One thread a cell of one class of one picture. Cells do not depend on each other, so a thread walks through
// the boxes of its plane in drawing order and keeps the cell in registers; a plane has a handful of boxes,
// and most are rejected by their distance alone. A block is 32 x 8 cells, so that a warp writes neighbouring
// floats; blockIdx.z is the plane.

#include <cuda_runtime.h>

#include "targets/rasterise_cuda.h"

namespace maskfit::targets {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;

// boxes::grid_from_network, product by product.
__device__ boxes::Box to_grid(const boxes::Box& box, float factor_x, float factor_y) {
  return {detail::multiply(box.x1, factor_x), detail::multiply(box.y1, factor_y),
          detail::multiply(box.x2, factor_x), detail::multiply(box.y2, factor_y)};
}

// No sample of the cell can be inside when its middle is farther from the dead zone than half a cell (and a
// hair). The coverage ellipse of a box never reaches beyond its dead zone.
__device__ bool may_touch(const Stamp& stamp, int x, int y) {
  const float scale_x = stamp.matrix[0][0], scale_y = stamp.matrix[1][1];
  const float u = (x + 0.5f) * scale_x + stamp.matrix[2][0];
  const float v = (y + 0.5f) * scale_y + stamp.matrix[2][1];
  return fabsf(u) <= 1.001f + 0.5f * scale_x && fabsf(v) <= 1.001f + 0.5f * scale_y;
}

struct Factors {
  float x, y;  // network pixels -> cells
};

__device__ bool in_ignored(const RasterInput& input, Factors factors, int picture, int x, int y) {
  if (input.ignored_begin == nullptr) return false;
  for (int i = input.ignored_begin[picture]; i < input.ignored_begin[picture + 1]; ++i) {
    const boxes::Box box = to_grid(input.ignored[i], factors.x, factors.y);
    if (touches_cell(box.x1, box.x2, x) && touches_cell(box.y1, box.y2, y)) return true;
  }
  return false;
}

__global__ void rasterise_kernel(RasterInput input, RasterOutput output, Factors factors, float stride_x,
                                 float stride_y) {
  const int x = blockIdx.x * kBlockWidth + threadIdx.x, y = blockIdx.y * kBlockHeight + threadIdx.y;
  const int width = input.geometry.grid_width, height = input.geometry.grid_height;
  if (x >= width || y >= height) return;
  const int plane = blockIdx.z;
  const int class_index = plane % input.classes, picture = plane / input.classes;

  float owner = 0;
  float values[kGradients] = {};
  for (int i = input.plane_begin[plane]; i < input.plane_begin[plane + 1]; ++i) {
    const BoxStamp box = box_stamp(to_grid(input.boxes[i], factors.x, factors.y), input.shapes[class_index],
                                   input.deadzone_radius, stride_x, stride_y, input.coding);
    if (!may_touch(box.stamp, x, y)) continue;
    const CellCover cover = cell_cover(box.stamp, x, y);
    const Blend action = blend(cover, owner);
    if (action.erase) owner = 0;
    if (action.draw) owner = cover.coverage;
#pragma unroll
    for (int g = 0; g < kGradients; ++g) {
      if (action.erase) values[g] = 0;
      if (action.draw) values[g] = gradient_value(box.gradients[g], detectnet_flag(g), x, y, cover.coverage);
    }
  }

  const std::size_t cells = static_cast<std::size_t>(width) * height;
  const std::size_t cell = static_cast<std::size_t>(y) * width + x;
  output.coverage[plane * cells + cell] = values[kCoverage];
  output.coverage_norm[plane * cells + cell] = values[kCoverageNorm];
#pragma unroll
  for (int side = 0; side < 4; ++side) output.box[(plane * 4 + side) * cells + cell] = values[kLeft + side];
  if (output.mask == nullptr) return;
  const bool masked = values[kCoverage] <= 0 && in_ignored(input, factors, picture, x, y);
  const float weight = input.source_weights == nullptr ? 1.0f : input.source_weights[picture];
  output.mask[plane * cells + cell] = masked ? 0.0f : weight;
}

}  // namespace

const char* rasterise_cuda(const RasterInput& input, const RasterOutput& output, CUstream_st* stream) {
  const boxes::GridGeometry& g = input.geometry;
  const int planes = input.pictures * input.classes;
  if (planes == 0) return nullptr;
  if (planes > 65535) return "rasterise: more than 65535 planes (pictures * classes)";
  const dim3 block(kBlockWidth, kBlockHeight);
  const dim3 grid((g.grid_width + kBlockWidth - 1) / kBlockWidth,
                  (g.grid_height + kBlockHeight - 1) / kBlockHeight, planes);
  const Factors factors{1.0f / g.stride_x(), 1.0f / g.stride_y()};
  rasterise_kernel<<<grid, block, 0, stream>>>(input, output, factors, g.stride_x(), g.stride_y());
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace maskfit::targets
