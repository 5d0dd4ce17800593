#pragma once

// Adam as the reference computes it, and AdamW.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "network/network.h"
#include "spec/experiment.pb.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::train {

// m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2, then at step t = 1, 2, ...
//   adam (TensorFlow's form, epsilon outside the bias correction):
//     p <- p - lr sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon)
//   adamw (Loshchilov and Hutter 2019, in PyTorch's form):
//     p <- (1 - lr decay) p - lr / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + epsilon)
// The decay applies to arrays of more than one dimension, that is to kernels and neither to biases nor to
// batch norms. One pass over memory a step: a loop of ours on a CPU, one fused kernel over all arrays on a
// GPU.
class Optimizer {
 public:
  // parameters are changed in place. Throws base::Error (kRefused) for a spec without an optimiser.
  Optimizer(const spec::OptimizerConfig& config, std::vector<std::string> names,
            std::vector<at::Tensor> parameters);
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  // gradients: one a parameter, of its shape; float32. skip, when given: a float scalar on the parameters'
  // device; where it is not 0, parameters and moments stay as they are. A GPU reads it itself, the host does
  // not wait.
  void step(const std::vector<at::Tensor>& gradients, double learning_rate, const at::Tensor* skip = nullptr);
  std::int64_t steps() const;

  // For a step that somebody else computes (gpu_step.h): the factors of step `t` and the moments to change.
  struct Constants {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0;
  };
  struct Factors {
    double step_size = 0, root_scale = 1;  // see AdamFactors
  };
  Constants constants() const;
  // Counts a step and returns its factors.
  Factors begin_step(double learning_rate);
  std::vector<at::Tensor> first_moments() const;
  std::vector<at::Tensor> second_moments() const;

  // For checkpoints: "adam/first_moment/<name>" and "adam/second_moment/<name>"; the step count is the
  // caller's to keep.
  std::map<std::string, at::Tensor> tensors() const;
  // Throws base::Error (kRefused) naming an array that is missing or of another shape. Other arrays are
  // ignored.
  void set_state(const std::map<std::string, network::Array>& arrays, std::int64_t steps);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The gradient in the memory layout of its parameter; a copy where it has another.
at::Tensor laid_out_like(const at::Tensor& gradient, const at::Tensor& parameter);

// Whether weight decay applies to an array.
bool decays(const at::Tensor& parameter);

// Shrinks all gradients together so that their norm is at most max_norm: g <- g min(1, max_norm / (norm +
// 1e-6)). max_norm 0: nothing. Does not wait for the device.
void clip_gradients(const std::vector<at::Tensor>& gradients, double max_norm);

}  // namespace maskfit::train
