#pragma once

// Means of tensors over the processes of a training.

#include "tensor/tensor_fwd.h"

namespace maskfit::tensor {

// All ranks call the same functions with tensors of the same sizes in the same order. Throws base::Error when
// another rank has failed.
class RankMean {
 public:
  virtual ~RankMean() = default;
  virtual int ranks() const = 0;
  // In place; float32 or float64, contiguous. On a CPU done when it returns, on a GPU queued on the current
  // stream.
  virtual void mean(const at::Tensor& values) = 0;
  // The same beside what is computed next; float32.
  virtual void begin(const at::Tensor& values) = 0;
  // What is computed from here on sees the means of all that begin() was called for.
  virtual void finish() = 0;
};

}  // namespace maskfit::tensor
