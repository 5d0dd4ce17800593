#include "export/quantise.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace maskfit::exporting {
namespace {

using network::Network;
using network::Node;
using network::Op;

// The input of an addition that a runtime fuses into the convolution that makes it, or -1.
int fused_input(const Network& network, const Node& add, const std::map<std::string, int>& readers) {
  for (std::size_t i = 0; i < add.inputs.size(); ++i) {
    if (network.node(add.inputs[i]).op == Op::kConv && readers.at(add.inputs[i]) == 1)
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::vector<float> weight_scales(const network::Array& kernel) {
  MASKFIT_CHECK(!kernel.shape.empty() && kernel.shape[0] > 0, "a kernel without channels");
  const std::size_t row = kernel.values.size() / static_cast<std::size_t>(kernel.shape[0]);
  std::vector<float> scales;
  for (std::size_t begin = 0; begin < kernel.values.size(); begin += row) {
    float largest = 0;
    for (std::size_t k = begin; k < begin + row; ++k)
      largest = std::max(largest, std::fabs(kernel.values[k]));
    const float scale = largest / 127.0f;
    scales.push_back(scale > 0 && std::isfinite(scale) ? scale : 1.0f);
  }
  return scales;
}

std::vector<std::int8_t> quantised_kernel(const network::Array& kernel, const std::vector<float>& scales) {
  MASKFIT_CHECK(static_cast<std::int64_t>(scales.size()) == kernel.shape.at(0), "{} scales for {} channels",
                scales.size(), kernel.shape.at(0));
  const std::size_t row = kernel.values.size() / scales.size();
  std::vector<std::int8_t> integers(kernel.values.size());
  for (std::size_t k = 0; k < integers.size(); ++k) {
    const float rounded = std::nearbyint(kernel.values[k] / scales[k / row]);
    integers[k] = static_cast<std::int8_t>(std::clamp(rounded, -127.0f, 127.0f));
  }
  return integers;
}

Quantisation place_quantisation(const Network& network, const std::map<std::string, float>& scales,
                                const std::set<std::string>& float_layers) {
  const std::map<std::string, int> readers = reader_counts(network);
  Quantisation result;
  result.scales = scales;
  for (const Node& node : network.nodes) {
    if (node.op == Op::kConv && !float_layers.contains(node.name)) {
      result.edges.insert({node.name, 0});
      result.weight_scales[node.name] = weight_scales(network.weights.at(node.name + "/kernel"));
    } else if (node.op == Op::kAdd) {
      const int fused = fused_input(network, node, readers);
      for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
        if (i != fused) result.edges.insert({node.name, i});
      }
    }
  }
  for (const auto& [node, input] : result.edges) {
    const std::string& from = network.node(node).inputs[static_cast<std::size_t>(input)];
    MASKFIT_CHECK(result.scales.contains(from), "no scale for '{}', which '{}' reads", from, node);
  }
  return result;
}

std::vector<std::string> convolutions_of(const Network& network) {
  std::vector<std::string> names;
  for (const Node& node : network.nodes) {
    if (node.op == Op::kConv) names.push_back(node.name);
  }
  return names;
}

}  // namespace maskfit::exporting
