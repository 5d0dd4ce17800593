#pragma once

namespace maskfit::network {

// The largest side, number of channels or field of a node: far above any network's, and small enough that no
// product of two overflows.
constexpr int kMaxExtent = 32768;

}  // namespace maskfit::network
