#pragma once

// ResNet without a classifier, as the reference lays it out (its names, strides and projections).

#include <string>
#include <vector>

#include "network/graph_builder.h"

namespace maskfit::network {

struct ResnetOptions {
  int layers = 18;               // 10, 18, 34 or 50
  bool all_projections = false;  // a 1x1 convolution on every shortcut instead of on each block's first only
  bool use_batch_norm = true;
  float width = 1;  // factor on all channel counts, which become multiples of 8
};

// The last node of each block, blocks[0] for block 1. Strides over the input: 4, 8, 16, 16.
struct ResnetBlocks {
  std::vector<std::string> last;
};

// Appends stem and blocks. Convolutions carry a bias even where batch normalisation follows; the strides of
// blocks 1..4 are 2, 2, 2, 1 in the block's first unit, in a bottleneck (50) on its first 1x1 convolution.
ResnetBlocks append_resnet(GraphBuilder& graph, const ResnetOptions& options);

}  // namespace maskfit::network
