#pragma once

// Dynamic loss scaling (spec 4.5), so that small gradients survive float16.

#include <cstdint>
#include <vector>

#include "spec/experiment.pb.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

// Disabled: factor() is 1 and unscale() does nothing. Enabled: the loss is multiplied by 2^exponent; after a
// step with finite gradients the exponent grows by `increment`, after another it falls by `decrement`.
class LossScaling {
 public:
  explicit LossScaling(const spec::CostScalingConfig& config);

  bool enabled() const { return enabled_; }
  double exponent() const { return exponent_; }
  double increment() const { return increment_; }
  double decrement() const { return decrement_; }
  double factor() const;
  // Divides the gradients by factor(). When one of them is infinite or NaN all become zero: the reference
  // takes such a step with zero gradients, by which moments decay and parameters move on. True when they were
  // finite.
  bool unscale(const std::vector<at::Tensor>& gradients);

  std::int64_t bad_steps() const { return bad_steps_; }

  // For checkpoints: exponent, bad steps.
  static constexpr std::size_t kStateSize = 2;
  std::vector<double> state() const;
  void set_state(const std::vector<double>& state);

 private:
  bool enabled_ = false;
  double exponent_ = 0, increment_ = 0, decrement_ = 0;
  std::int64_t bad_steps_ = 0;
};

}  // namespace maskfit::train
