#include "tensor/version.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sign.h>
#endif

#include "base/error.h"
#include "tensor/array.h"

namespace maskfit::tensor {
namespace {

void check_same_count(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  MASKFIT_CHECK(a.size() == b.size(), "{} tensors and {} tensors", a.size(), b.size());
}

}  // namespace

void copy_all(const std::vector<at::Tensor>& destinations, const std::vector<at::Tensor>& sources) {
  check_same_count(destinations, sources);
  const at::NoGradGuard no_grad;
#if TORCH_VERSION_MAJOR >= 2
  if (!destinations.empty()) at::_foreach_copy_(destinations, sources);
#else
  for (std::size_t i = 0; i < destinations.size(); ++i) destinations[i].copy_(sources[i]);
#endif
}

void lerp_all(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b, double weight) {
  check_same_count(a, b);
  const at::NoGradGuard no_grad;
#if TORCH_VERSION_MAJOR >= 2
  if (!a.empty()) at::_foreach_lerp_(a, b, weight);
#else
  for (std::size_t i = 0; i < a.size(); ++i) a[i].lerp_(b[i], weight);
#endif
}

void scale_all(const std::vector<at::Tensor>& tensors, const at::Tensor& factor) {
  check_shape(factor, {}, "factor");
  const at::NoGradGuard no_grad;
#if TORCH_VERSION_MAJOR >= 2
  if (!tensors.empty()) at::_foreach_mul_(tensors, factor);
#else
  for (const at::Tensor& tensor : tensors) tensor.mul_(factor);
#endif
}

bool scale_all_and_check_finite(const std::vector<at::Tensor>& tensors, double factor) {
  if (tensors.empty()) return true;
  const at::NoGradGuard no_grad;
  const at::Device device = tensors[0].device();
  if (device.is_cuda()) {
    const auto options = at::TensorOptions(device).dtype(at::kFloat);
    at::Tensor found = at::zeros({1}, options);
    at::_amp_foreach_non_finite_check_and_unscale_(tensors, found, at::full({1}, factor, options));
    return to_number(found) == 0;
  }
  bool finite = true;
  for (const at::Tensor& tensor : tensors) {
    finite = finite && to_number(at::isfinite(tensor).all()) != 0;
    tensor.mul_(factor);
  }
  return finite;
}

std::vector<at::Tensor> signs_of(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
#if TORCH_VERSION_MAJOR >= 2
  return tensors.empty() ? std::vector<at::Tensor>() : at::_foreach_sign(tensors);
#else
  std::vector<at::Tensor> signs;
  for (const at::Tensor& tensor : tensors) signs.push_back(tensor.sign());
  return signs;
#endif
}

at::Tensor multiply_to_float(const at::Tensor& a, const at::Tensor& b) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
  if (a.is_cuda()) return at::mm(a, b, at::kFloat);
#endif
  return at::mm(a.to(at::kFloat), b.to(at::kFloat));
}

at::Tensor norm_of_all(const std::vector<at::Tensor>& tensors) {
  MASKFIT_CHECK(!tensors.empty(), "{} tensors", tensors.size());
  const at::NoGradGuard no_grad;
  return at::stack(at::_foreach_norm(tensors, 2)).norm();
}

}  // namespace maskfit::tensor
