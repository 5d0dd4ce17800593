#pragma once

// The targets of a whole batch as plain floats, made on the loader's threads. N pictures, C classes, H x W
// cells.

#include <string>
#include <vector>

#include "boxes/box.h"
#include "loss/detection_loss.h"
#include "targets/loss_mask.h"
#include "targets/rasterise.h"

namespace maskfit::train {

struct TargetBatch {
  int count = 0, classes = 0;
  boxes::GridGeometry geometry;
  // Rasterised; empty with task_aligned.
  std::vector<float> coverage;       // [N][C][H][W]
  std::vector<float> coverage_norm;  // [N][C][H][W]
  std::vector<float> box;            // [N][C][4][H][W]
  std::vector<float> coverage_mask;  // [N][C][H][W] factor of the cost; empty: 1 everywhere
  std::vector<float> box_mask;       // [N][C][H][W] likewise
  // With task_aligned, where the loss makes its targets from the predictions.
  loss::PaddedTruths truths;
};

struct TargetOptions {
  bool task_aligned = false;
  targets::RasterShapes shapes;
  boxes::GridGeometry geometry;
  targets::BoxCoding coding;
  int classes = 0;
  bool reference_exact = false;
};

// truths_in_network, source_weights: one entry a picture.
TargetBatch make_targets(const std::vector<boxes::Truths>& truths_in_network,
                         const std::vector<float>& source_weights, const TargetOptions& options);

// The same as the loss takes it. Borrows.
loss::HostTargets host_targets(const TargetBatch& batch);

}  // namespace maskfit::train
