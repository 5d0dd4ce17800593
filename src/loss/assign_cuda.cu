// Three passes: each truth finds the alignment of its last chosen cell; each cell finds its truth and tells
// it how well they fit; each cell learns its quality from the best that its truth has heard.

#include <cuda_runtime.h>

#include "loss/assign_cuda.h"

namespace maskfit::loss {
namespace {

constexpr int kThreads = 256;
constexpr float kTinyArea = 1e-7f, kTinyAlign = 1e-12f;

struct Place {
  float x, y;
};

__device__ Place point_of(int cell, const AssignProblem& p) {
  return {(cell % p.grid_width) * p.stride_x + p.offset, (cell / p.grid_width) * p.stride_y + p.offset};
}

__device__ bool lies_inside(const Place& point, const float* box, float least_x, float least_y) {
  const float half_x = fmaxf((box[2] - box[0]) * 0.5f, least_x),
              half_y = fmaxf((box[3] - box[1]) * 0.5f, least_y);
  return fabsf(point.x - (box[0] + box[2]) * 0.5f) <= half_x &&
         fabsf(point.y - (box[1] + box[3]) * 0.5f) <= half_y;
}

struct Fit {
  float iou, align;
};

// Not inlined: two kernels compare its results, which must have the same bits.
__device__ __noinline__ Fit fit(const float* box, float coverage, const float* truth, float coverage_power,
                                float iou_power) {
  const float width = fmaxf(fminf(box[2], truth[2]) - fmaxf(box[0], truth[0]), 0.0f);
  const float height = fmaxf(fminf(box[3], truth[3]) - fmaxf(box[1], truth[1]), 0.0f);
  const float both = width * height;
  const float area = fmaxf(box[2] - box[0], 0.0f) * fmaxf(box[3] - box[1], 0.0f);
  const float truth_area = (truth[2] - truth[0]) * (truth[3] - truth[1]);
  const float iou = fminf(fmaxf(both / (area + truth_area - both + kTinyArea), 0.01f), 1.0f);
  return {iou, powf(coverage, coverage_power) * powf(iou, iou_power)};
}

__device__ Fit fit_at(const AssignProblem& p, const AssignInput& in, int n, int m, int cell) {
  const int cells = p.grid_width * p.grid_height;
  const std::int64_t plane =
      (static_cast<std::int64_t>(n) * p.classes + in.classes[n * p.slots + m]) * cells + cell;
  return fit(in.decoded + plane * 4, in.cov[plane], in.boxes + 4 * (n * p.slots + m), p.coverage_power,
             p.iou_power);
}

struct Ranked {
  float value;  // the highest
  int times;    // how often it occurs
};

__device__ Ranked merge(const Ranked& a, const Ranked& b) {
  if (a.value == b.value) return {a.value, a.times + b.times};
  return a.value > b.value ? a : b;
}

// The highest value below `limit` among all threads' values, and how often it occurs.
__device__ Ranked highest_below(const float* values, int count, float limit) {
  __shared__ Ranked of_warp[kThreads / 32];
  __shared__ Ranked result;
  Ranked mine = {-1.0f, 0};
  for (int i = threadIdx.x; i < count; i += kThreads) {
    if (values[i] < limit) mine = merge(mine, {values[i], 1});
  }
  for (int step = 16; step > 0; step /= 2) {
    const Ranked other = {__shfl_down_sync(0xffffffffU, mine.value, step),
                          __shfl_down_sync(0xffffffffU, mine.times, step)};
    mine = merge(mine, other);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    Ranked all = of_warp[0];
    for (int w = 1; w < kThreads / 32; ++w) all = merge(all, of_warp[w]);
    result = all;
  }
  __syncthreads();
  const Ranked found = result;
  __syncthreads();  // before the next call writes it
  return found;
}

// least [N][M]: the top_k-th highest alignment of each truth; best_align, best_iou [N][M] begin at 0.
__global__ void rank_cells(AssignProblem p, AssignInput in, float* least, float* best_align,
                           float* best_iou) {
  extern __shared__ float align[];  // [L]
  const int m = blockIdx.x, n = blockIdx.y, truth = n * p.slots + m;
  const int cells = p.grid_width * p.grid_height;
  if (threadIdx.x == 0) best_align[truth] = best_iou[truth] = 0;
  if (!in.objects[truth]) return;
  for (int cell = threadIdx.x; cell < cells; cell += kThreads) {
    const bool inside = lies_inside(point_of(cell, p), in.boxes + 4 * truth, p.least_x, p.least_y);
    align[cell] = inside ? fit_at(p, in, n, m, cell).align : 0.0f;
  }
  __syncthreads();
  float limit = INFINITY;
  for (int left = p.top_k < cells ? p.top_k : cells; left > 0;) {
    const Ranked next = highest_below(align, cells, limit);
    if (next.times == 0) break;  // all the others are no numbers
    limit = next.value;
    left -= next.times;
  }
  if (threadIdx.x == 0) least[truth] = limit;
}

// Which truth each cell answers for (-1: none), how well it fits.
__global__ void choose_truth(AssignProblem p, AssignInput in, const float* least, int* best_align,
                             int* best_iou, int* chosen, float* chosen_align) {
  const int cells = p.grid_width * p.grid_height;
  const int cell = blockIdx.x * kThreads + threadIdx.x, n = blockIdx.y;
  if (cell >= cells) return;
  const Place point = point_of(cell, p);
  int best = -1;
  Fit best_fit = {-1.0f, 0.0f};
  for (int m = 0; m < p.slots; ++m) {
    const int truth = n * p.slots + m;
    if (!in.objects[truth] || !lies_inside(point, in.boxes + 4 * truth, p.least_x, p.least_y)) continue;
    const Fit here = fit_at(p, in, n, m, cell);
    if (here.align >= least[truth] && here.iou > best_fit.iou) {
      best = m;
      best_fit = here;
    }
  }
  const std::int64_t place = static_cast<std::int64_t>(n) * cells + cell;
  chosen[place] = best;
  chosen_align[place] = best_fit.align;
  if (best < 0) return;
  // Numbers that are not negative are ordered as their bits are.
  atomicMax(best_align + n * p.slots + best, __float_as_int(best_fit.align));
  atomicMax(best_iou + n * p.slots + best, __float_as_int(best_fit.iou));
}

__global__ void tell_cells(AssignProblem p, AssignInput in, const float* best_align, const float* best_iou,
                           const int* chosen, const float* chosen_align, AssignOutput out) {
  const int cells = p.grid_width * p.grid_height;
  const int cell = blockIdx.x * kThreads + threadIdx.x, n = blockIdx.y;
  if (cell >= cells) return;
  const std::int64_t place = static_cast<std::int64_t>(n) * cells + cell;
  const bool taken = chosen[place] >= 0;
  const int truth = n * p.slots + (taken ? chosen[place] : 0);
  out.quality[place] =
      taken ? chosen_align[place] / (best_align[truth] + kTinyAlign) * best_iou[truth] : 0.0f;
  out.classes[place] = in.classes[truth];
  for (int side = 0; side < 4; ++side) out.boxes[4 * place + side] = in.boxes[4 * truth + side];
  bool ignored = false;
  const Place point = point_of(cell, p);
  for (int m = 0; m < p.slots && !taken; ++m) {
    ignored = ignored || (in.ignored[n * p.slots + m] &&
                          lies_inside(point, in.boxes + 4 * (n * p.slots + m), 0.0f, 0.0f));
  }
  out.background[place] = ignored ? 0.0f : 1.0f;
}

}  // namespace

std::int64_t assign_scratch_floats(const AssignProblem& p) {
  const std::int64_t truths = static_cast<std::int64_t>(p.pictures) * p.slots;
  const std::int64_t cells = static_cast<std::int64_t>(p.pictures) * p.grid_width * p.grid_height;
  return 3 * truths + 2 * cells;
}

const char* assign_cuda(const AssignProblem& p, const AssignInput& in, const AssignOutput& out,
                        CUstream_st* stream) {
  const int cells = p.grid_width * p.grid_height;
  if (cells > kMostAssignedCells) return "assign: more cells than shared memory has room for";
  if (p.pictures == 0 || p.slots == 0) return nullptr;
  const std::int64_t truths = static_cast<std::int64_t>(p.pictures) * p.slots;
  const std::int64_t places = static_cast<std::int64_t>(p.pictures) * cells;
  float* least = out.scratch;
  float* best_align = least + truths;
  float* best_iou = best_align + truths;
  float* chosen_align = best_iou + truths;
  int* chosen = reinterpret_cast<int*>(chosen_align + places);
  rank_cells<<<dim3(p.slots, p.pictures), kThreads, cells * sizeof(float), stream>>>(p, in, least, best_align,
                                                                                     best_iou);
  const dim3 grid((cells + kThreads - 1) / kThreads, p.pictures);
  choose_truth<<<grid, kThreads, 0, stream>>>(p, in, least, reinterpret_cast<int*>(best_align),
                                              reinterpret_cast<int*>(best_iou), chosen, chosen_align);
  tell_cells<<<grid, kThreads, 0, stream>>>(p, in, best_align, best_iou, chosen, chosen_align, out);
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace maskfit::loss
