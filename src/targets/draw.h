#pragma once

// Draws stamps into the planes of one picture and class: the kernel of the rasteriser (spec 2.3), on the CPU.

#include <span>
#include <vector>

#include "targets/stamp.h"

namespace maskfit::targets {

// One plane a gradient, and the coverage that each cell's present owner has there.
class PlaneCanvas {
 public:
  // planes: one pointer a gradient, each to height*width floats, row-major; the caller has zeroed them.
  PlaneCanvas(int width, int height, std::vector<float*> planes, std::vector<GradientFlag> flags);

  // Draws one stamp over what is there. Call in ascending order of the boxes' lower edge (nearer objects
  // last).
  //   dead zone at least as strong as the cell's owner -> the cell is erased
  //   coverage at least as strong as the (new) owner   -> the cell belongs to this stamp
  // Touches only cells in the shape's bounding box. REQUIRES as many gradients as planes.
  void draw(const Stamp& stamp, std::span<const Gradient> gradients);

 private:
  void draw_cell(const Stamp& stamp, std::span<const Gradient> gradients, int x, int y);

  int width_, height_;
  std::vector<float*> planes_;
  std::vector<GradientFlag> flags_;
  std::vector<float> owner_coverage_;  // [height][width]
};

// Cells [x_begin, x_end) x [y_begin, y_end) that the dead zone or the coverage area can touch, cut to the
// grid. The whole grid for a matrix that cannot be inverted.
struct CellRange {
  int x_begin = 0, x_end = 0, y_begin = 0, y_end = 0;
};
CellRange reach(const Stamp& stamp, int width, int height);

}  // namespace maskfit::targets
