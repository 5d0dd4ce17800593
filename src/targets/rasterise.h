#pragma once

// Boxes -> coverage and box grids, exactly as the reference's rasteriser (spec section 2). The kernel's
// arithmetic is in stamp.h, which the CUDA twin (rasterise_cuda.h) shares.

#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"
#include "targets/stamp.h"

namespace maskfit::targets {

// The targets of one picture. Planes are row-major [grid_height][grid_width].
struct TargetGrids {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::vector<float> coverage;       // [classes][H][W]          0..1
  std::vector<float> coverage_norm;  // [classes][H][W]          coverage * 1/area, the weight of the box loss
  std::vector<float> box;            // [classes][4][H][W]       L,T,R,B in units of `scale` pixels
};

// BboxRasterizerConfig, resolved: one shape a class in the model's order.
struct RasterShapes {
  float deadzone_radius = 0.67f;  // 0..1
  std::vector<ClassShape> classes;
};

// Throws base::Error (kRefused) naming the class that has no entry.
RasterShapes shapes_from_spec(const spec::BboxRasterizerConfig& config,
                              std::span<const std::string> class_names);

// Truths that are marked `ignore` are not drawn (loss_mask.h takes them out of the loss instead), and their
// class_index is not read. Boxes are neither clipped nor filtered by size. REQUIRES 0 <= class_index <
// shapes.classes.size().
TargetGrids rasterise(std::span<const boxes::Truth> truths_in_network, const RasterShapes& shapes,
                      const boxes::GridGeometry& geometry, const BoxCoding& coding);

// The same, looking the shapes up on every call.
TargetGrids rasterise(std::span<const boxes::Truth> truths_in_network,
                      const spec::BboxRasterizerConfig& config, std::span<const std::string> class_names,
                      const boxes::GridGeometry& geometry, const BoxCoding& coding);

// The truths to draw, in drawing order: by class, then ascending lower edge (nearer objects last), ties in
// input order.
std::vector<boxes::Truth> drawing_order(std::span<const boxes::Truth> truths_in_network);

}  // namespace maskfit::targets
