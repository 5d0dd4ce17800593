#pragma once

// The tensor side of task_aligned.h; for files that may see LibTorch.

#include "boxes/box.h"
#include "loss/task_aligned.h"
#include "spec/cost.pb.h"
#include "targets/stamp.h"
#include "tensor/rank_mean.h"
#include "tensor/tensor.h"

namespace maskfit::loss {

// The same as PaddedTruths, on the device of the network.
struct TruthTensors {
  at::Tensor boxes;    // [N][M][4] float32
  at::Tensor classes;  // [N][M] int64
  at::Tensor objects;  // [N][M] bool
  at::Tensor ignored;  // [N][M] bool
};
// Copies without waiting for the device.
TruthTensors to_device(const PaddedTruths& truths, c10::Device device);

// Which truth a cell answers for. No gradient flows through it.
struct Assignment {
  at::Tensor quality;  // [N][L] target coverage 0..1; 0 where the cell answers for nothing
  at::Tensor boxes;    // [N][L][4] the truth's box, network pixels (anything where quality is 0)
  at::Tensor classes;  // [N][L] int64 the truth's class
  at::Tensor
      background;  // [N][L] float32 1, or 0 for a free cell inside an ignore region: no coverage cost there
};

struct TaskAlignedCosts {
  at::Tensor total;        // scalar, differentiable
  at::Tensor class_costs;  // [C][2] coverage and box cost of each class as they enter the total; no gradient
  at::Tensor positives;    // scalar: sum of quality
};

// bbox [N][4C][H][W] in units of coding.scale, not clipped -> boxes [N][C][L][4] in network pixels.
at::Tensor decode_cells(const at::Tensor& bbox, const boxes::GridGeometry& geometry,
                        const targets::BoxCoding& coding);

// 1 - (IoU - centre distance^2 / diagonal^2 - aspect term), elementwise over [..., 4] boxes; truth boxes must
// have an area. The weight of the aspect term carries no gradient, as its authors have it.
at::Tensor complete_iou_cost(const at::Tensor& predicted, const at::Tensor& truth);

// For truth g of class c and cell n: align = coverage_c(n)^coverage_power * max(IoU(n, g), 0.01)^iou_power
// over the cells whose reference point lies inside g (at least min_radius_cells around its centre). g keeps
// its top_k cells; a cell wanted by several goes to the one of highest IoU. quality = align / max align of g
// * max IoU of g.
Assignment assign_task_aligned(const at::Tensor& decoded, const at::Tensor& cov, const TruthTensors& truths,
                               const boxes::GridGeometry& geometry, const targets::BoxCoding& coding,
                               const spec::CostFunctionConfig::TaskAligned& config);

// total = coverage_weight * sum BCE(cov_logits, quality) / Q + sum over the cells that answer of
//         quality * mean over classes of (ciou_weight * CIoU cost + l1_weight * L1) / Q,      Q = max(1, sum
//         quality)
// L1 = mean over the four edges of |predicted - truth| / (width or height of the truth), at most 10. Every
// class's box channels learn every object: a box looks the same whatever is in it, and rare classes profit.
TaskAlignedCosts task_aligned_costs(const at::Tensor& bbox, const at::Tensor& cov_logits,
                                    const TruthTensors& truths, const boxes::GridGeometry& geometry,
                                    const targets::BoxCoding& coding,
                                    const spec::CostFunctionConfig::TaskAligned& config,
                                    tensor::RankMean* ranks = nullptr);

// What a sum of costs is divided by: max(1, count), or with ranks max(1, count of all ranks) / ranks, for
// then the mean of the quotients is the quotient of all.
at::Tensor shared_count(const at::Tensor& count, tensor::RankMean* ranks);

}  // namespace maskfit::loss
