#pragma once

// Recipes for networks. "Where to add a backbone": one row in backbones.cpp and the function it names.

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
  float width = 1;   // factor on the backbone's channel counts, which stay multiples of 8
  std::string neck;  // "" (the reference: heads on the backbone, stride 16) or a name of neck_names()
};

std::vector<std::string> backbone_names();
std::vector<std::string> neck_names();

// A DetectNet_v2: backbone, optional neck, heads output_bbox (4 * classes, linear) and output_cov (classes,
// sigmoid), with every weight allocated and zero; call initialise() next. Throws base::Error (kRefused) for
// an unknown name (with the nearest known one), for use_pooling (whose networks have a stride of 224 and
// detect nothing), for no class, or for an input that is no multiple of 16.
Network make_detectnet(const BackboneOptions& options);

// The block that a convolution belongs to: 0 for the stem, 1.. for the blocks, -1 for neck and heads. The
// numbers that freeze_blocks of a spec names.
int block_of(const std::string& node_name);

// Glorot-uniform kernels (limit sqrt(6 / (fan_in + fan_out))), zero biases, BN 1/0/0/1; a function of (seed,
// node name) alone, so adding a node changes no other's weights.
void initialise(Network& network, std::uint64_t seed);

// Sets the bias of output_cov so that every cell starts at this probability, bias = ln(p / (1 - p)): with few
// positives among many cells the first steps are then not spent on learning that most cells are empty (Lin et
// al., "Focal loss for dense object detection", 2017, section 3.3). The reference has no such prior. REQUIRES
// 0 < probability < 1.
void set_coverage_prior(Network& network, float probability);

// What an untrained network answers in every cell: a box that reaches `distance` units of the box scale to
// each side. Set after initialise().
void set_box_prior(Network& network, float distance);

// Smaller random kernels of the two heads, so that the priors are what an untrained network really says.
void shrink_head_kernels(Network& network, float factor);

}  // namespace maskfit::network
