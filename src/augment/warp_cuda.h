#pragma once

// Plans on the GPU: one kernel turns the resident 8-bit canvases into a batch of network inputs. apply.h
// defines what it computes; the two agree to float rounding. Plain pointers and sizes, no CUDA header and no
// LibTorch.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "augment/plan.h"

struct CUstream_st;  // cudaStream_t points to one

namespace maskfit::augment {

// A Plan as the kernel reads it: plain numbers, to be copied to the GPU as they are.
struct WarpTile {
  std::int32_t sample = 0;           // index into WarpSource::canvases
  float source_from_output[6] = {};  // sx = x * m[0] + y * m[2] + m[4], sy = x * m[1] + y * m[3] + m[5]
  std::int32_t x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
struct WarpItem {
  std::int32_t first_tile = 0, tile_count = 0;  // its tiles in the array of all tiles
  float color[12] = {};                         // the 4 x 3 left part of Plan::color, row-major
  float fill = 0.5f;
};
struct WarpBatch {
  std::vector<WarpTile> tiles;
  std::vector<WarpItem> items;  // one a plan
};

// Throws base::CheckFailed when a plan names a sample outside [0, sample_count).
WarpBatch pack_plans(std::span<const Plan> plans, std::int64_t sample_count);

enum class PixelType { kFloat32, kFloat16, kBFloat16 };
enum class PixelLayout { kNchw, kNhwc };

struct WarpSource {
  const std::uint8_t* canvases = nullptr;  // device, [count][height][width][channels]
  int height = 0, width = 0;
  int channels = 3;  // 3 or 1
};

struct WarpOutput {
  void* pixels = nullptr;  // device, [count][channels][height][width] or [count][height][width][channels]
  PixelType type = PixelType::kFloat32;
  PixelLayout layout = PixelLayout::kNchw;
  int count = 0, height = 0, width = 0;
  int channels =
      3;  // at least the source's; the further ones are written as 0 (padding for the first convolution)
};

// Queues the kernel on `stream` and returns at once; `tiles` and `items` (count of them) are device arrays.
// nullptr when it was queued, else CUDA's error text. Exists only in a build with CUDA.
const char* warp_cuda(const WarpSource& source, const WarpTile* tiles, const WarpItem* items,
                      const WarpOutput& output, CUstream_st* stream);

}  // namespace maskfit::augment
