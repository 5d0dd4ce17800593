#include "train/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/clone.h>

#include <cmath>

#include "base/error.h"
#include "tensor/array.h"
#include "tensor/version.h"

namespace maskfit::train {
namespace {

constexpr double kRampShare = 0.1;  // of the steps that the average spans

std::vector<at::Tensor> clones_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> clones;
  for (const at::Tensor& tensor : tensors) clones.push_back(tensor.detach().clone());
  return clones;
}

}  // namespace

struct WeightAverage::Impl {
  std::vector<std::string> names;
  std::vector<at::Tensor> live, average;
  double decay = 0;
};

WeightAverage::WeightAverage(std::vector<std::string> names, std::vector<at::Tensor> tensors, double decay)
    : impl_(std::make_unique<Impl>()) {
  MASKFIT_CHECK(names.size() == tensors.size(), "{} names, {} tensors", names.size(), tensors.size());
  MASKFIT_CHECK(decay >= 0 && decay < 1, "decay={}", decay);
  impl_->decay = decay;
  if (decay == 0) return;
  impl_->names = std::move(names);
  impl_->average = clones_of(tensors);
  impl_->live = std::move(tensors);
}
WeightAverage::~WeightAverage() = default;
WeightAverage::WeightAverage(WeightAverage&&) noexcept = default;
WeightAverage& WeightAverage::operator=(WeightAverage&&) noexcept = default;

bool WeightAverage::enabled() const {
  return impl_->decay > 0;
}

void WeightAverage::update(std::int64_t step) {
  if (!enabled()) return;
  tensor::lerp_all(impl_->average, impl_->live, weight(step));
}

double WeightAverage::weight(std::int64_t step) const {
  return 1 - impl_->decay * (1 - std::exp(-static_cast<double>(step) * (1 - impl_->decay) / kRampShare));
}
std::vector<at::Tensor> WeightAverage::averages() const {
  return impl_->average;
}

void WeightAverage::exchange() {
  if (!enabled()) return;
  const std::vector<at::Tensor> held = clones_of(impl_->live);
  tensor::copy_all(impl_->live, impl_->average);
  tensor::copy_all(impl_->average, held);
}

std::map<std::string, at::Tensor> WeightAverage::tensors() const {
  std::map<std::string, at::Tensor> tensors;
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    tensors.emplace(kPrefix + impl_->names[i], impl_->average[i]);
  }
  return tensors;
}

void WeightAverage::set_state(const std::map<std::string, network::Array>& arrays) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    const auto found = arrays.find(kPrefix + impl_->names[i]);
    if (found == arrays.end() || found->second.shape != impl_->average[i].sizes().vec()) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("the checkpoint has no average of '{}' that fits", impl_->names[i]), "",
                        "it belongs to another network or to a run without ema_decay; start a new run");
    }
    impl_->average[i].copy_(tensor::from_values(found->second.values, found->second.shape));
  }
}

}  // namespace maskfit::train
