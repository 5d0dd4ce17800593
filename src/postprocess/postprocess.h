#pragma once

// Output grids of one picture -> boxes.

#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"

namespace maskfit::postprocess {

// One picture's network output, borrowed. coverage [classes][H][W] after the sigmoid; box [classes][4][H][W].
struct OutputGrids {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::span<const float> coverage;
  std::span<const float> box;
};

// Decoded boxes and their coverages, one entry a cell (or those above a threshold).
struct Candidates {
  std::vector<boxes::Box> boxes_in_network;
  std::vector<float> coverage;
};

enum class Path {
  kEvaluation,  // boxes clipped to the input, IoU regulariser 1e-5, ">= threshold" (spec 7.1)
  kInference,   // no clipping before clustering, regulariser 0.01, "> threshold", x-major cell order (spec 7.2-7.5)
};

struct Options {
  Path path = Path::kEvaluation;
  float scale = 35.0f, offset = 0.5f;
  // Restores the reference's quirks (docs/numerics.md): swapped thresholds in evaluation, permuted NMS confidences.
  bool reference_exact = false;
};

// Detections of all classes in network pixels, each class by descending confidence.
// REQUIRES a clustering entry (or "default") for each class name; throws base::Error naming the class otherwise.
boxes::Detections detections_from_grids(const OutputGrids& grids, const spec::PostProcessingConfig& config,
                                        std::span<const std::string> class_names, const Options& options);

}  // namespace maskfit::postprocess
