#include "train/loss_scaling.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "tensor/version.h"

namespace maskfit::train {

LossScaling::LossScaling(const spec::CostScalingConfig& config)
    : enabled_(config.enabled()),
      exponent_(config.has_initial_exponent() ? config.initial_exponent() : 20.0),
      increment_(config.has_increment() ? config.increment() : 0.005),
      decrement_(config.has_decrement() ? config.decrement() : 1.0) {}

double LossScaling::factor() const {
  return enabled_ ? std::exp2(exponent_) : 1.0;
}

bool LossScaling::unscale(const std::vector<at::Tensor>& gradients) {
  if (!enabled_) return true;
  const bool finite = tensor::scale_all_and_check_finite(gradients, std::exp2(-exponent_));
  if (finite) {
    exponent_ += increment_;
    return true;
  }
  ++bad_steps_;
  exponent_ -= decrement_;
  const at::NoGradGuard no_grad;
  for (const at::Tensor& gradient : gradients) gradient.zero_();
  return false;
}

std::vector<double> LossScaling::state() const {
  return {exponent_, static_cast<double>(bad_steps_)};
}

void LossScaling::set_state(const std::vector<double>& state) {
  MASKFIT_CHECK(state.size() == kStateSize, "{} numbers", state.size());
  exponent_ = state[0];
  bad_steps_ = static_cast<std::int64_t>(state[1]);
}

}  // namespace maskfit::train
