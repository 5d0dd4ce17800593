#include "network/network.h"

#include <functional>
#include <numeric>
#include <set>

#include "base/error.h"
#include "network/limits.h"

namespace maskfit::network {
namespace {

bool in_bounds(const Shape& shape) {
  return shape.channels > 0 && shape.height > 0 && shape.width > 0 && shape.channels <= kMaxExtent &&
         shape.height <= kMaxExtent && shape.width <= kMaxExtent;
}

std::string describe(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

Shape windowed(const Node& node, const Shape& in, int channels) {
  const auto fits = [](int number, int least) { return number >= least && number <= kMaxExtent; };
  MASKFIT_CHECK(
      fits(node.kernel, 1) && fits(node.stride, 1) && fits(node.padding, 0) && fits(node.dilation, 1),
      "node '{}': kernel={} stride={} padding={} dilation={}", node.name, node.kernel, node.stride,
      node.padding, node.dilation);
  const Shape out{channels, window_count(in.height, node.kernel, node.stride, node.padding, node.dilation),
                  window_count(in.width, node.kernel, node.stride, node.padding, node.dilation)};
  MASKFIT_CHECK(out.height > 0 && out.width > 0, "node '{}': a {}x{} window does not fit its input {}",
                node.name, node.kernel, node.kernel, describe(in));
  return out;
}

Shape concatenated(const Node& node, const std::vector<Shape>& in) {
  Shape out = {0, in[0].height, in[0].width};
  for (const Shape& part : in) {
    MASKFIT_CHECK(part.height == out.height && part.width == out.width, "node '{}' concatenates {} and {}",
                  node.name, describe(in[0]), describe(part));
    out.channels += part.channels;
  }
  return out;
}

Shape shape_of(const Node& node, const std::vector<Shape>& in, const Shape& network_input) {
  const bool joins = node.op == Op::kAdd || node.op == Op::kConcat;
  const std::size_t least = node.op == Op::kInput ? 0 : joins ? 2 : 1;
  MASKFIT_CHECK(in.size() == least || (joins && in.size() > least), "node '{}' has {} inputs", node.name,
                in.size());
  switch (node.op) {
    case Op::kInput:
      return network_input;
    case Op::kConv:
      MASKFIT_CHECK(node.out_channels > 0 && node.out_channels <= kMaxExtent, "node '{}': out_channels={}",
                    node.name, node.out_channels);
      return windowed(node, in[0], node.out_channels);
    case Op::kDepthwise:
    case Op::kMaxPool:
      return windowed(node, in[0], in[0].channels);
    case Op::kUpsample:
      MASKFIT_CHECK(node.factor > 0 && node.factor <= kMaxExtent, "node '{}': factor={}", node.name,
                    node.factor);
      return {in[0].channels, in[0].height * node.factor, in[0].width * node.factor};
    case Op::kAdd:
      for (const Shape& other : in) {
        MASKFIT_CHECK(other == in[0], "node '{}' adds {} and {}", node.name, describe(in[0]),
                      describe(other));
      }
      return in[0];
    case Op::kConcat:
      return concatenated(node, in);
    case Op::kBatchNorm:
    case Op::kRelu:
    case Op::kSigmoid:
      return in[0];
  }
  MASKFIT_CHECK(false, "node '{}': op={}", node.name, static_cast<int>(node.op));
}

}  // namespace

std::int64_t Array::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

const Node& Network::node(const std::string& node_name) const {
  for (const Node& candidate : nodes) {
    if (candidate.name == node_name) return candidate;
  }
  MASKFIT_CHECK(false, "network '{}' has no node '{}'", name, node_name);
}

bool is_convolution(Op op) {
  return op == Op::kConv || op == Op::kDepthwise;
}

int same_padding(int kernel, int dilation) {
  return ((kernel - 1) * dilation + 1) / 2;
}

int window_count(int size, int kernel, int stride, int padding, int dilation) {
  const int room = size + 2 * padding - ((kernel - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

std::map<std::string, Shape> infer_shapes(const Network& network) {
  MASKFIT_CHECK(in_bounds(network.input), "network '{}' has the input {}", network.name,
                describe(network.input));
  std::map<std::string, Shape> shapes;
  for (const Node& node : network.nodes) {
    std::vector<Shape> in;
    for (const std::string& input : node.inputs) {
      const auto found = shapes.find(input);
      MASKFIT_CHECK(found != shapes.end(), "node '{}' takes '{}', which is no earlier node", node.name,
                    input);
      in.push_back(found->second);
    }
    const Shape shape = shape_of(node, in, network.input);
    MASKFIT_CHECK(in_bounds(shape), "node '{}' makes {}, more than {} a side", node.name, describe(shape),
                  kMaxExtent);
    const bool is_new = shapes.emplace(node.name, shape).second;
    MASKFIT_CHECK(is_new, "two nodes are called '{}'", node.name);
  }
  for (const std::string& output : network.outputs) {
    MASKFIT_CHECK(shapes.contains(output), "the output '{}' is no node", output);
  }
  return shapes;
}

std::vector<WeightSlot> weight_slots(const Network& network) {
  const std::map<std::string, Shape> shapes = infer_shapes(network);
  std::vector<WeightSlot> slots;
  for (const Node& node : network.nodes) {
    const auto add = [&](const char* array, std::vector<std::int64_t> shape, bool trainable) {
      slots.push_back({node.name + "/" + array, node.name, node.op, std::move(shape), trainable});
    };
    if (is_convolution(node.op)) {
      const int out = shapes.at(node.name).channels;
      const int in = node.op == Op::kDepthwise ? 1 : shapes.at(node.inputs[0]).channels;
      add("kernel", {out, in, node.kernel, node.kernel}, true);
      if (node.bias) add("bias", {out}, true);
    } else if (node.op == Op::kBatchNorm) {
      const std::int64_t channels = shapes.at(node.name).channels;
      add("gamma", {channels}, true);
      add("beta", {channels}, true);
      add("moving_mean", {channels}, false);
      add("moving_variance", {channels}, false);
    }
  }
  return slots;
}

void check_weights(const Network& network) {
  const std::vector<WeightSlot> slots = weight_slots(network);
  std::set<std::string> expected;
  for (const WeightSlot& slot : slots) {
    const auto found = network.weights.find(slot.name);
    MASKFIT_CHECK(found != network.weights.end(), "the array '{}' is missing", slot.name);
    const Array& array = found->second;
    MASKFIT_CHECK(array.shape == slot.shape, "the array '{}' has the shape [{}], its node needs [{}]",
                  slot.name, fmt::join(array.shape, ","), fmt::join(slot.shape, ","));
    MASKFIT_CHECK(static_cast<std::int64_t>(array.values.size()) == array.size(),
                  "the array '{}' has {} values for {}", slot.name, array.values.size(), array.size());
    expected.insert(slot.name);
  }
  for (const auto& [name, array] : network.weights) {
    MASKFIT_CHECK(expected.contains(name), "the array '{}' belongs to no node", name);
  }
}

Counts count(const Network& network) {
  Counts counts;
  const std::map<std::string, Shape> shapes = infer_shapes(network);
  for (const WeightSlot& slot : weight_slots(network)) {
    const std::int64_t size = Array{slot.shape, {}}.size();
    (slot.trainable ? counts.trainable : counts.non_trainable) += size;
    if (is_convolution(slot.op) && slot.shape.size() == 4) {
      const Shape& out = shapes.at(slot.node);
      counts.macs += size * out.height * out.width;
    }
  }
  return counts;
}

}  // namespace maskfit::network
