#pragma once

// The weights of a network as tensors, and back.

#include <string>
#include <vector>

#include "network/network.h"
#include "tensor/tensor.h"

namespace maskfit::model {

// The arrays of one node; those that its operation lacks are undefined. float32 on the detector's device.
struct NodeArrays {
  at::Tensor kernel;                       // [out][in][h][w], in the detector's memory format
  at::Tensor bias;                         // [out]
  at::Tensor gamma, beta, mean, variance;  // [channels]
  at::Tensor
      compute_kernel;  // what the convolution runs with: `kernel` itself, or its copy in the precision's type
  at::Tensor compute_bias;  // likewise; undefined when the convolution adds none
  bool frozen = false;      // kernel and bias do not train
};

// The member of `arrays` that the name's last part means: "kernel", "bias", "gamma", "beta", "moving_mean",
// "moving_variance".
at::Tensor& array_of(NodeArrays& arrays, const std::string& slot_name);

// One entry a node, in node order. REQUIRES check_weights(network).
std::vector<NodeArrays> load_arrays(const network::Network& network, at::Device device,
                                    at::MemoryFormat format);

// Copies the tensors' values into network.weights.
void store_arrays(std::vector<NodeArrays>& arrays, network::Network& network);

}  // namespace maskfit::model
