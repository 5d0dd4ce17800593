#pragma once

// Targets of a whole batch on the GPU: one kernel, equal to rasterise() and mask_ignored() bit for bit,
// because both run the arithmetic of stamp.h. Plain pointers and sizes, no CUDA header and no LibTorch. The
// launch depends on sizes only, so it can be captured into a CUDA graph; the boxes are read from device
// memory at every replay.

#include <cstdint>
#include <span>
#include <vector>

#include "boxes/box.h"
#include "targets/stamp.h"

struct CUstream_st;  // cudaStream_t points to one

namespace maskfit::targets {

// The boxes of a batch in the order in which the kernel reads them, to be copied to the GPU as they are.
struct PackedTruths {
  std::vector<boxes::Box> boxes;            // network pixels; by picture, class, ascending lower edge
  std::vector<std::int32_t> plane_begin;    // [pictures * classes + 1] where the boxes of each plane start
  std::vector<boxes::Box> ignored;          // network pixels; by picture
  std::vector<std::int32_t> ignored_begin;  // [pictures + 1]
};

// Throws base::CheckFailed for a class outside [0, classes) of a truth that is not ignored.
PackedTruths pack_truths(std::span<const boxes::Truths> truths_in_network, int classes);

// What the kernel reads. All pointers are device pointers.
struct RasterInput {
  const boxes::Box* boxes = nullptr;
  const std::int32_t* plane_begin = nullptr;
  const boxes::Box* ignored = nullptr;  // may be null together with ignored_begin: nothing is ignored
  const std::int32_t* ignored_begin = nullptr;
  const ClassShape* shapes = nullptr;     // [classes]
  const float* source_weights = nullptr;  // [pictures]; may be null: 1
  float deadzone_radius = 0.67f;
  int pictures = 0, classes = 0;
  boxes::GridGeometry geometry;
  BoxCoding coding;
};

// What it writes, every element of it. Device pointers; N pictures, C classes.
struct RasterOutput {
  float* coverage = nullptr;       // [N][C][H][W]
  float* coverage_norm = nullptr;  // [N][C][H][W]
  float* box = nullptr;            // [N][C][4][H][W]
  float* mask =
      nullptr;  // [N][C][H][W] factor of the loss: source weight, 0 under ignored truths; may be null
};

// Queues the kernel on `stream` and returns at once. nullptr when it was queued, else CUDA's error text.
// Exists only in a build with CUDA.
const char* rasterise_cuda(const RasterInput& input, const RasterOutput& output, CUstream_st* stream);

}  // namespace maskfit::targets
