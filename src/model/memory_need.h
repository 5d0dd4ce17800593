#pragma once

// How much memory a network takes, from its graph alone: so that a batch that cannot fit is refused before
// anything was read or written, not killed by the system after minutes.

#include <cstdint>

#include "model/detector.h"
#include "network/network.h"

namespace maskfit::model {

// Bytes. Lower bounds: what lies in memory at the same time in any case, without work space of the
// convolutions, so that whatever is refused for them would really not have fitted. Doubles, because sizes
// come from the user and products of them overflow.
struct MemoryNeed {
  double fixed = 0;        // weights, and in training gradients and an average of the weights
  double per_picture = 0;  // values of the nodes
};

// Training: what the backward pass reads later, and the gradient of the largest of it.
MemoryNeed training_memory(const network::Network& network, Precision precision);
// Inference: the most values that are alive at once.
MemoryNeed inference_memory(const network::Network& network, Precision precision);

// The largest batch that fits into `bytes`; 0 when not even one picture does.
std::int64_t largest_batch(const MemoryNeed& need, double bytes);

}  // namespace maskfit::model
