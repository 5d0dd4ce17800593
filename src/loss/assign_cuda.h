#pragma once

// assign_task_aligned() as kernels; task_aligned_costs.h says what is computed, and its LibTorch version
// defines it.

#include <cstdint>

struct CUstream_st;

namespace maskfit::loss {

// N pictures, C classes, L = grid_width * grid_height cells row by row, M places for truths.
struct AssignProblem {
  int pictures = 0, classes = 0, slots = 0;
  int grid_width = 0, grid_height = 0;
  float stride_x = 16, stride_y = 16, offset = 0.5f;  // of a cell's reference point, network pixels
  float least_x = 16, least_y = 16;                   // a cell this near a truth's centre lies inside it
  float coverage_power = 1, iou_power = 6;
  int top_k = 10;
};

// Device arrays, contiguous.
struct AssignInput {
  const float* decoded = nullptr;         // [N][C][L][4]
  const float* cov = nullptr;             // [N][C][L]
  const float* boxes = nullptr;           // [N][M][4]
  const std::int64_t* classes = nullptr;  // [N][M]
  const bool* objects = nullptr;          // [N][M]
  const bool* ignored = nullptr;          // [N][M]
};

struct AssignOutput {
  float* quality = nullptr;         // [N][L]
  float* boxes = nullptr;           // [N][L][4]
  std::int64_t* classes = nullptr;  // [N][L]
  float* background = nullptr;      // [N][L]
  float* scratch = nullptr;         // assign_scratch_floats()
};

std::int64_t assign_scratch_floats(const AssignProblem& problem);

// Cells that a block's shared memory has room for; more are LibTorch's to assign.
constexpr int kMostAssignedCells = 12000;

// Queues the kernels and returns at once: nullptr, or CUDA's error text. Exists only in a build with CUDA.
const char* assign_cuda(const AssignProblem& problem, const AssignInput& input, const AssignOutput& output,
                        CUstream_st* stream);

}  // namespace maskfit::loss
