#pragma once

// The loss of the "scratch" recipe: cells and truths are matched by what the network itself predicts
// (task-aligned assignment: Feng et al., "TOOD", ICCV 2021), coverage learns the quality of its own box,
// boxes learn CIoU (Zheng et al., AAAI 2020) and a relative L1. Grid cells answer at their reference point,
// column * stride + offset.
//
// N pictures, C classes, M truths of the fullest picture, L = H * W cells.

#include <cstdint>
#include <vector>

#include "boxes/box.h"

namespace maskfit::loss {

// The truths of a batch, padded to M a picture: plain numbers, so that a loader thread can prepare them.
struct PaddedTruths {
  std::int64_t pictures = 0, slots = 0;  // N, M (at least 1)
  std::vector<float> boxes;              // [N][M][4] x1,y1,x2,y2, network pixels; unused slots 0
  std::vector<std::int64_t> classes;     // [N][M]
  std::vector<float> kinds;              // [N][M] 1 object, -1 ignore region, 0 unused
};
PaddedTruths pad_truths(const std::vector<boxes::Truths>& truths_in_network);

}  // namespace maskfit::loss
