#pragma once

// Costs of the coverage head, one number a cell; all shapes are [N][C][H][W].

#include "tensor/tensor_fwd.h"

namespace maskfit::loss {

// The reference's cross entropy (spec 3.1), t target, p probability, f foreground weight of the class,
// epsilon = 1e-5:
//   (f if t > 0.5 else 1 - f) * -(t ln(p + epsilon) + (1 - t) ln(1 - p + epsilon))
// foreground_weight: [1][C][1][1].
at::Tensor weighted_cross_entropy(const at::Tensor& probability, const at::Tensor& target,
                                  const at::Tensor& foreground_weight);

// -(t ln p + (1 - t) ln(1 - p)) with p = sigmoid(logit), computed from the logit, so it is exact for sure
// cells.
at::Tensor cross_entropy(const at::Tensor& logit, const at::Tensor& target);

// |t - p|^gamma times cross_entropy: cells that are right already count little, soft targets are as welcome
// as hard ones (Li et al., "Generalized focal loss", 2020, equation 5).
at::Tensor quality_focal(const at::Tensor& logit, const at::Tensor& target, double gamma);

}  // namespace maskfit::loss
