#pragma once

// How fast networks run here: forward passes, timed in turns.

#include <string>
#include <vector>

#include "base/interrupt.h"
#include "model/detector.h"
#include "network/network.h"

namespace maskfit::deploy {

struct ForwardSpeedOptions {
  std::string device = "cpu";
  model::Precision precision = model::Precision::kFloat32;
  int batch = 1;
  double seconds = 3;    // for all networks together, as far as whole rounds allow
  base::StopToken stop;  // asked between rounds; throws base::Error (kInterrupted)
};

// Pictures a second of each network, with batch norms folded, as `infer` runs it: from the median time of its
// passes. The networks take turns, so whatever else the machine does slows all of them.
std::vector<double> forward_speeds(const std::vector<network::Network>& networks,
                                   const ForwardSpeedOptions& options);

// The devices to measure on: "cpu", and "cuda" where LibTorch sees a GPU.
std::vector<std::string> usable_devices();

}  // namespace maskfit::deploy
