#pragma once

#include <cstdint>
#include <vector>

#include "augment/plan.h"
#include "boxes/box.h"

namespace maskfit::loader {

// What the next step works on, before pixels: which pictures, how they are changed, and where their boxes
// come to lie. A pure function of (data, options, seed, epoch, step), the same on every rank and after every
// resume.
struct BatchPlan {
  std::int64_t epoch = 0;                        // 0-based
  std::int64_t step = 0;                         // 0-based inside the epoch
  std::vector<std::int64_t> samples;             // [n] index of the (first) picture of each item
  std::vector<augment::Plan> plans;              // [n]
  std::vector<boxes::Truths> truths_in_network;  // [n] after augmentation
  std::vector<float> source_weights;             // [n] 1 unless the spec says otherwise
};

// Float pictures of a batch, as the network takes them.
struct PixelBatch {
  int count = 0, channels = 3, height = 0, width = 0;
  std::vector<float> values;  // [count][channels][height][width], 0..1
};

}  // namespace maskfit::loader
