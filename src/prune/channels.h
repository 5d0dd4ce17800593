#pragma once

// Which filter makes which channel, and which filters can only go together.

#include <map>
#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::prune {

// A convolution, plain or depthwise: a layer that filters can be taken from.
struct Layer {
  std::string name;
  int filters = 0;
  int first = 0;  // number of its first filter; all filters of a network are numbered in node order
};

// Filters of several layers that stay or go together: an addition needs the same channels on both sides, a
// depthwise convolution has those of what feeds it.
struct Group {
  std::vector<int> layers;                // places in ChannelMap::layers, ascending
  std::vector<std::vector<int>> bundles;  // filter numbers that share one fate; the filters of a layer that
                                          // stands alone are bundles of one, in their order
  std::string kept_whole;                 // why nothing may be taken away; empty: something may
};

struct ChannelMap {
  std::vector<Layer> layers;
  // By node: for each channel the number of the filter that made it, -1 for a channel of the input picture.
  std::map<std::string, std::vector<int>> channels;
  std::vector<Group> groups;  // in the order of their first layers; every layer is in exactly one
};

// Follows every channel through the network: concatenations line channels up, additions tie them together,
// everything else passes them on. The filters that the network's outputs are made of are kept whole, and so
// are those behind the nodes `excluded` and all that is tied to them. Throws base::Error (kUsage) with the
// nearest name for an excluded node that the network does not have.
ChannelMap map_channels(const network::Network& network, const std::vector<std::string>& excluded = {});

}  // namespace maskfit::prune
