#pragma once

// Recipes for networks. "Where to add a backbone": one function here and one row in backbone_names().

#include <cstdint>
#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::network {

struct BackboneOptions {
  std::string backbone = "resnet18";  // one of backbone_names()
  Shape input{3, 544, 960};
  int classes = 1;
  bool all_projections = false;
  bool use_batch_norm = true;
  bool use_pooling = false;
  std::string neck;  // "" (the reference: heads on the backbone, stride 16) or a name of neck_names()
};

std::vector<std::string> backbone_names();
std::vector<std::string> neck_names();

// A DetectNet_v2: backbone, optional neck, heads output_bbox (4 * classes, linear) and output_cov (classes, sigmoid),
// with every weight allocated and zero; call initialise() next.
Network make_detectnet(const BackboneOptions& options);

// Glorot-uniform kernels, zero biases, BN 1/0/0/1; a function of (seed, node name) alone, so adding a node changes no
// other's weights.
void initialise(Network& network, std::uint64_t seed);

}  // namespace maskfit::network
