#include "loss/regulariser.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "tensor/version.h"

namespace maskfit::loss {
namespace {

using spec::RegularizerConfig;

std::vector<at::Tensor> select(const std::vector<std::string>& names,
                               const std::vector<at::Tensor>& tensors) {
  MASKFIT_CHECK(names.size() == tensors.size(), "{} names, {} tensors", names.size(), tensors.size());
  std::vector<at::Tensor> list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_regularised(names[i])) list.push_back(tensors[i]);
  }
  return list;
}

}  // namespace

bool is_regularised(const std::string& parameter_name) {
  return parameter_name.ends_with("/kernel") || parameter_name.ends_with("/bias");
}

Regulariser::Regulariser(const RegularizerConfig& config)
    : type_(config.weight() > 0 ? config.type() : RegularizerConfig::NO_REG), weight_(config.weight()) {}

at::Tensor Regulariser::cost(const std::vector<std::string>& names,
                             const std::vector<at::Tensor>& parameters) const {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> list = select(names, parameters);
  if (type_ == RegularizerConfig::NO_REG || list.empty()) {
    return parameters.empty() ? at::zeros({}) : at::zeros({}, parameters[0].options());
  }
  const bool l1 = type_ == RegularizerConfig::L1;
  const at::Tensor norms = at::stack(at::_foreach_norm(list, l1 ? 1 : 2));
  return (l1 ? norms : norms.square()).sum().mul(weight_);
}

void Regulariser::add_gradients(const std::vector<std::string>& names,
                                const std::vector<at::Tensor>& parameters,
                                const std::vector<at::Tensor>& gradients) const {
  if (type_ == RegularizerConfig::NO_REG) return;
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> list = select(names, parameters);
  const std::vector<at::Tensor> into = select(names, gradients);
  if (list.empty()) return;
  if (type_ == RegularizerConfig::L1) {
    at::_foreach_add_(into, tensor::signs_of(list), weight_);
  } else {
    at::_foreach_add_(into, list, 2 * weight_);
  }
}

}  // namespace maskfit::loss
