#pragma once

#include "tensor/tensor.h"

namespace maskfit::model {

// What a detector says about a batch; float32, contiguous, on its device. C classes, H x W grid cells.
struct Outputs {
  at::Tensor bbox;  // [N][4C][H][W] distances left, top, right, bottom from the cell in units of box scale
  at::Tensor cov_logits;  // [N][C][H][W]
  at::Tensor cov;         // [N][C][H][W] sigmoid of cov_logits, 0..1
};

}  // namespace maskfit::model
