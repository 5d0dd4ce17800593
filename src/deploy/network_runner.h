#pragma once

// A trained network through LibTorch, over plain memory: the other implementation that an exported one is
// held against.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "export/executor.h"
#include "network/network.h"

namespace maskfit::deploy {

class NetworkRunner {
 public:
  NetworkRunner(network::Network network, const std::string& device);
  ~NetworkRunner();

  // Pictures [C][H][W] of the network's input size, 0..1; one forward pass for all.
  std::vector<exporting::Grids> run(const std::vector<std::span<const float>>& pictures);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::deploy
