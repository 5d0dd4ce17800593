#pragma once

// The penalty on kernels and biases (spec 1.7).

#include <string>
#include <vector>

#include "spec/experiment.pb.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::loss {

// Kernels and biases of convolutions, not batch norms: "conv1/kernel", "conv1/bias".
bool is_regularised(const std::string& parameter_name);

// L1: weight * sum |p|; L2: weight * sum p^2 (no 1/2), over all regularised arrays.
class Regulariser {
 public:
  explicit Regulariser(const spec::RegularizerConfig& config);

  // names: one a parameter. Arrays of frozen layers count as well. A scalar without gradient, on the
  // parameters' device.
  at::Tensor cost(const std::vector<std::string>& names, const std::vector<at::Tensor>& parameters) const;

  // gradients[i] <- gradients[i] + d cost / d parameters[i]: weight * sign(p), or 2 * weight * p. Cheaper
  // than to send 11 million squares through autograd.
  void add_gradients(const std::vector<std::string>& names, const std::vector<at::Tensor>& parameters,
                     const std::vector<at::Tensor>& gradients) const;

  // NO_REG where there is no weight.
  spec::RegularizerConfig::RegularizationType type() const { return type_; }
  double weight() const { return weight_; }

 private:
  spec::RegularizerConfig::RegularizationType type_;
  double weight_;
};

}  // namespace maskfit::loss
