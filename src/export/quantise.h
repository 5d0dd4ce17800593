#pragma once

// Where a network works on 8-bit integers, and its weights as such.

#include <cstdint>

#include "export/exported_model.h"

namespace maskfit::exporting {

// One scale an output channel: the largest weight's magnitude / 127; 1 for a channel of zeros.
std::vector<float> weight_scales(const network::Array& kernel);
// Round half to even, cut to [-127, 127]. REQUIRES one positive scale an output channel.
std::vector<std::int8_t> quantised_kernel(const network::Array& kernel, const std::vector<float>& scales);

// Which inputs read 8-bit numbers. Convolutions do (depthwise ones stay real: little work, much to lose), but
// those in `float_layers`. Of the inputs of an addition, the first that comes straight from a convolution
// stays as it is, so that a runtime can add inside that convolution before it rounds; the others are 8-bit,
// as NVIDIA recommends for residual networks. REQUIRES a network without batch norms behind convolutions
// (fold_batch_norms).
Quantisation place_quantisation(const network::Network& network, const std::map<std::string, float>& scales,
                                const std::set<std::string>& float_layers);

// Convolutions of the network, in its order: what float_layers may name.
std::vector<std::string> convolutions_of(const network::Network& network);

}  // namespace maskfit::exporting
