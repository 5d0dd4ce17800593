#pragma once

// Costs of the box head, one number a cell and class. Boxes are [N][C][4][H][W]: the distances left, top,
// right, bottom from the cell's reference point, which is the same for prediction and target, so IoUs follow
// from distances alone. Results are [N][C][H][W].

#include "tensor/tensor_fwd.h"

namespace maskfit::loss {

// Mean over the four numbers of |prediction - target|.
at::Tensor box_l1(const at::Tensor& prediction, const at::Tensor& target);

// 1 - GIoU (Rezatofighi et al. 2019): IoU less the share of the enclosing box that neither box covers. In
// pixels. REQUIRES targets of positive size, and so does box_ciou.
at::Tensor box_giou(const at::Tensor& prediction, const at::Tensor& target);

// complete_iou_cost (task_aligned_costs.h) of the same boxes. In pixels.
at::Tensor box_ciou(const at::Tensor& prediction, const at::Tensor& target);

}  // namespace maskfit::loss
