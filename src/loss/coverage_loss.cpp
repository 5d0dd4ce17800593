#include "loss/coverage_loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/where.h>

namespace maskfit::loss {

at::Tensor weighted_cross_entropy(const at::Tensor& probability, const at::Tensor& target,
                                  const at::Tensor& foreground_weight) {
  constexpr double kEpsilon = 1e-5;
  const at::Tensor background = at::rsub(target, 1);
  const at::Tensor entropy = target.mul(probability.add(kEpsilon).log())
                                 .add(background.mul(at::rsub(probability, 1).add(kEpsilon).log()))
                                 .neg();
  return entropy.mul(at::where(target.gt(0.5), foreground_weight, at::rsub(foreground_weight, 1)));
}

at::Tensor cross_entropy(const at::Tensor& logit, const at::Tensor& target) {
  return at::binary_cross_entropy_with_logits(logit, target, {}, {}, at::Reduction::None);
}

at::Tensor quality_focal(const at::Tensor& logit, const at::Tensor& target, double gamma) {
  return cross_entropy(logit, target).mul(at::sigmoid(logit).sub(target).abs().pow(gamma));
}

}  // namespace maskfit::loss
