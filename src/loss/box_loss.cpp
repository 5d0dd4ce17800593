#include "loss/box_loss.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/rsub.h>

#include "loss/task_aligned_costs.h"

namespace maskfit::loss {
namespace {

constexpr int kEdges = 2;  // the dimension of left, top, right, bottom

// Distances as corners about the cell's reference point, [N][C][H][W][4].
at::Tensor corners_of(const at::Tensor& box) {
  return at::cat({box.narrow(kEdges, 0, 2).neg(), box.narrow(kEdges, 2, 2)}, kEdges).movedim(kEdges, -1);
}

struct Edges {
  explicit Edges(const at::Tensor& box)
      : left(box.select(kEdges, 0)),
        top(box.select(kEdges, 1)),
        right(box.select(kEdges, 2)),
        bottom(box.select(kEdges, 3)) {}

  // A prediction may be inside out; its area is then 0.
  at::Tensor area() const { return left.add(right).clamp_min(0).mul(top.add(bottom).clamp_min(0)); }

  at::Tensor left, top, right, bottom;
};

}  // namespace

at::Tensor box_l1(const at::Tensor& prediction, const at::Tensor& target) {
  return prediction.sub(target).abs().mean(kEdges);
}

at::Tensor box_giou(const at::Tensor& prediction, const at::Tensor& target) {
  constexpr double kTinyArea = 1e-7;
  const Edges a(prediction), b(target);
  const at::Tensor wide = at::minimum(a.left, b.left).add(at::minimum(a.right, b.right)).clamp_min(0);
  const at::Tensor high = at::minimum(a.top, b.top).add(at::minimum(a.bottom, b.bottom)).clamp_min(0);
  const at::Tensor both = wide.mul(high);
  const at::Tensor either = a.area().add(b.area()).sub(both).add(kTinyArea);
  const at::Tensor enclosing = at::maximum(a.left, b.left)
                                   .add(at::maximum(a.right, b.right))
                                   .mul(at::maximum(a.top, b.top).add(at::maximum(a.bottom, b.bottom)));
  const at::Tensor empty_share = enclosing.sub(either).div(enclosing.add(kTinyArea));
  return at::rsub(both.div(either).sub(empty_share), 1);
}

at::Tensor box_ciou(const at::Tensor& prediction, const at::Tensor& target) {
  return complete_iou_cost(corners_of(prediction), corners_of(target));
}

}  // namespace maskfit::loss
