#pragma once

// How fast would training be here? Answered by doing it for a few seconds.

#include <functional>
#include <string>

#include "base/interrupt.h"
#include "model/detector.h"
#include "network/network.h"

namespace maskfit::train {

struct SpeedOptions {
  std::string device = "cpu";
  model::Precision precision = model::Precision::kFloat32;
  int batch = 1;
  double seconds = 10;   // at most, as far as one step can be foreseen
  base::StopToken stop;  // asked between steps; throws base::Error (kInterrupted)
};

struct SpeedEstimate {
  double images_per_second = 0;
  int width = 0, height = 0, batch = 0;
  int steps = 0;           // that were timed
  bool scaled_up = false;  // measured on a smaller input and scaled by its multiply-accumulates
};

// Forward and backward passes of random pictures through `make(width, height)`; the cost is a stand-in that
// takes no time worth counting, and so do decoding and the optimiser, which overlap or are small. A small
// probe comes first: where it shows that one step at the full size would take longer than `seconds`, the
// estimate is made from it and, where that fits, a probe of half the sides, which tell what grows with the
// pixels. REQUIRES width and height are multiples of 16 and at least 64.
SpeedEstimate measure_speed(const std::function<network::Network(int width, int height)>& make, int width,
                            int height, const SpeedOptions& options);

// The network of the scratch recipe for two classes, as `maskfit train DATASET` builds it.
network::Network default_network(int width, int height);

}  // namespace maskfit::train
