#include "loss/distillation.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/xlogy.h>

#include "loss/box_loss.h"
#include "loss/coverage_loss.h"
#include "tensor/array.h"

namespace maskfit::loss {
namespace {

// t ln t + (1 - t) ln(1 - t), 0 at both ends.
at::Tensor negative_entropy(const at::Tensor& t) {
  const at::Tensor rest = at::rsub(t, 1);
  return at::xlogy(t, t).add(at::xlogy(rest, rest));
}

}  // namespace

at::Tensor distillation_cost(const at::Tensor& bbox, const at::Tensor& cov_logits,
                             const at::Tensor& teacher_bbox, const at::Tensor& teacher_cov, double box_scale,
                             const spec::CostFunctionConfig::Distillation& config) {
  const std::int64_t n = cov_logits.size(0), classes = cov_logits.size(1), h = cov_logits.size(2),
                     w = cov_logits.size(3);
  tensor::check_shape(bbox, {n, 4 * classes, h, w}, "bbox");
  tensor::check_shape(teacher_bbox, {n, 4 * classes, h, w}, "the teacher's bbox");
  tensor::check_shape(teacher_cov, {n, classes, h, w}, "the teacher's coverage");
  const at::Tensor weight = teacher_cov.mul(teacher_cov.ge(kLeastTaughtCoverage));
  const at::Tensor divisor = weight.sum().clamp_min(1);
  const at::Tensor divergence = cross_entropy(cov_logits, teacher_cov).add(negative_entropy(teacher_cov));

  // A box that fits itself keeps 0 * infinity out of the sum where there is nothing to learn; an untrained or
  // uncertain teacher may give boxes that are inside out, which have no IoU.
  const at::Tensor target = teacher_bbox.view({n, classes, 4, h, w});
  const at::Tensor proper = target.select(2, 0)
                                .add(target.select(2, 2))
                                .gt(0)
                                .logical_and(target.select(2, 1).add(target.select(2, 3)).gt(0))
                                .logical_and(weight.gt(0));
  const auto only_proper = [&](const at::Tensor& box) {
    return at::where(proper.unsqueeze(2), box, at::ones_like(box)).mul(box_scale);
  };
  const at::Tensor box_cost =
      box_ciou(only_proper(bbox.view({n, classes, 4, h, w})), only_proper(target)).mul(weight).mul(proper);
  return divergence.sum()
      .mul(config.coverage_weight())
      .add(box_cost.sum().mul(config.box_weight()))
      .div(divisor);
}

}  // namespace maskfit::loss
