#pragma once

// Boxes -> coverage and box grids, exactly as the reference's rasteriser (spec section 2).

#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"

namespace maskfit::targets {

// The targets of one picture. Planes are row-major [grid_height][grid_width].
struct TargetGrids {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::vector<float> coverage;       // [classes][H][W]          0..1
  std::vector<float> coverage_norm;  // [classes][H][W]          coverage * 1/area, the weight of the box loss
  std::vector<float> box;            // [classes][4][H][W]       L,T,R,B in units of `scale` pixels
};

// Where an objective's box numbers live: value = pixels / scale, cell origin + offset.
struct BoxCoding {
  float scale = 35.0f;  // pixels
  float offset = 0.5f;  // pixels
};

// REQUIRES every class_index in [0, class_names.size()) and a rasteriser entry for each class name.
TargetGrids rasterise(std::span<const boxes::Truth> truths_in_network, const spec::BboxRasterizerConfig& config,
                      std::span<const std::string> class_names, const boxes::GridGeometry& geometry,
                      const BoxCoding& coding);

}  // namespace maskfit::targets
