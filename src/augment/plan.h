#pragma once

// What happens to one training picture, decided before any pixel is touched: a pure function of
// (options, seed, epoch, sample). The same plan is executed by apply.h on the CPU and by warp_cuda.cu on the
// GPU.
//
// Matrices follow the reference: row vectors, [x, y, 1] * M, M maps an OUTPUT pixel to a SOURCE pixel, and a
// new step is multiplied from the left (detectnet_v2 data loader, "multisource").

#include <array>
#include <cstdint>
#include <vector>

#include "boxes/box.h"

namespace maskfit::augment {

using Matrix3 = std::array<float, 9>;   // row-major
using Matrix4 = std::array<float, 16>;  // row-major; [r, g, b, 1] * K, colours in 0..1

// A rectangle of the output, in pixels, half open.
struct Rect {
  int x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

// One source picture and where it goes. A plain augmentation has one tile that covers the output; a mosaic
// has four.
struct Tile {
  std::int64_t sample = 0;  // index into the loader's list of pictures
  Matrix3 source_from_output{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Rect output_rect;
};

struct Plan {
  std::vector<Tile> tiles;
  Matrix4 color{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  float fill = 0.5f;  // outside every source picture, 0..1
};

}  // namespace maskfit::augment
