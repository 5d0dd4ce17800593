#pragma once

// What goes into the loss and what comes out. N pictures, C classes, H x W cells; float32 on one device.

#include "loss/task_aligned_costs.h"
#include "tensor/tensor.h"

namespace maskfit::loss {

struct Targets {
  // Rasterised; undefined with task_aligned.
  at::Tensor coverage;                 // [N][C][H][W]
  at::Tensor box_weight;               // [N][C][H][W] factor of the box cost, 0 where there is no object
  at::Tensor box;                      // [N][C][4][H][W] distances in units of the box scale
  at::Tensor coverage_mask, box_mask;  // [N][C][H][W] factor of the cost; undefined: 1
  // With task_aligned; undefined otherwise.
  TruthTensors truths;
};

struct Loss {
  at::Tensor task;        // scalar with gradient: what to minimise, without the regulariser
  at::Tensor mean_costs;  // [C][2] coverage and box cost of each class; without gradient. Before class and
                          // objective weights; with task_aligned, which has none, as they enter the total
};

}  // namespace maskfit::loss
