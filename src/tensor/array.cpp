#include "tensor/array.h"

#include <ATen/ops/empty.h>
#include <c10/util/accumulate.h>

#include <algorithm>

#include "base/error.h"

namespace maskfit::tensor {
namespace {

std::string describe(const at::Tensor& tensor) {
  return tensor.defined() ? fmt::format("[{}]", fmt::join(tensor.sizes().begin(), tensor.sizes().end(), ","))
                          : "undefined";
}

}  // namespace

at::Tensor from_values(std::span<const float> values, at::IntArrayRef shape, c10::Device device) {
  const std::int64_t size = c10::multiply_integers(shape);
  MASKFIT_CHECK(static_cast<std::int64_t>(values.size()) == size, "{} values for the shape [{}]",
                values.size(), fmt::join(shape.begin(), shape.end(), ","));
  at::Tensor host = at::empty(shape, at::TensorOptions(at::kFloat));
  std::copy(values.begin(), values.end(), host.data_ptr<float>());
  return device.is_cpu() ? host : send(host, device);
}

at::Tensor send(const at::Tensor& host, c10::Device device) {
  if (device.is_cpu()) return host.clone();
  return host.pin_memory().to(device, /*non_blocking=*/true);
}

std::vector<float> to_values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::TensorOptions(at::kCPU).dtype(at::kFloat)).contiguous();
  const float* begin = host.data_ptr<float>();
  return {begin, begin + host.numel()};
}

double to_number(const at::Tensor& scalar) {
  MASKFIT_CHECK(scalar.defined() && scalar.numel() == 1, "shape={}", describe(scalar));
  return scalar.detach().to(at::TensorOptions(at::kCPU).dtype(at::kDouble)).data_ptr<double>()[0];
}

void check_shape(const at::Tensor& tensor, std::initializer_list<std::int64_t> shape, const char* name) {
  const auto fits = [](std::int64_t expected, std::int64_t size) {
    return expected == -1 || expected == size;
  };
  const bool good = tensor.defined() && std::equal(shape.begin(), shape.end(), tensor.sizes().begin(),
                                                   tensor.sizes().end(), fits);
  MASKFIT_CHECK(good, "{} has the shape {}, expected [{}]", name, describe(tensor), fmt::join(shape, ","));
}

}  // namespace maskfit::tensor
