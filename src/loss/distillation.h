#pragma once

// A teacher's answers as targets: what a pruned network learns from the unpruned one beside the labels
// (Hinton et al., "Distilling the knowledge in a neural network", 2015).

#include "spec/experiment.pb.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::loss {

// Cells where the teacher's coverage is lower say nothing about a box.
inline constexpr double kLeastTaughtCoverage = 0.1;

// Scalar with gradient towards the student's tensors; 0 for a student that says what the teacher says.
// t teacher's coverage, p student's, sums over all cells and classes, divided by max(1, sum of t where
// t >= kLeastTaughtCoverage):
//   coverage_weight * sum of KL(t, p) of the two-way choice object or not
//   + box_weight * sum of t * (1 - complete IoU of the two boxes) where t >= kLeastTaughtCoverage
// bbox [N][4C][H][W], coverages [N][C][H][W]; float32 on one device. `box_scale`: pixels a unit of bbox.
at::Tensor distillation_cost(const at::Tensor& bbox, const at::Tensor& cov_logits,
                             const at::Tensor& teacher_bbox, const at::Tensor& teacher_cov, double box_scale,
                             const spec::CostFunctionConfig::Distillation& config);

}  // namespace maskfit::loss
