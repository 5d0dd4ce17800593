#include "network/graph_builder.h"

#include <utility>

#include "base/error.h"

namespace maskfit::network {

GraphBuilder::GraphBuilder(Shape input) {
  network_.input = input;
  Node node;
  node.name = "input_1";
  append(std::move(node));
}

std::string GraphBuilder::append(Node node) {
  network_.nodes.push_back(std::move(node));
  return network_.nodes.back().name;
}

std::string GraphBuilder::conv(const std::string& name, const std::string& from, const ConvOptions& options) {
  Node node;
  node.name = name;
  node.op = Op::kConv;
  node.inputs = {from};
  node.out_channels = options.out_channels;
  node.kernel = options.kernel;
  node.stride = options.stride;
  node.padding = same_padding(options.kernel);
  node.bias = options.bias;
  return append(std::move(node));
}

std::string GraphBuilder::depthwise(const std::string& name, const std::string& from,
                                    const ConvOptions& options) {
  conv(name, from, options);
  network_.nodes.back().op = Op::kDepthwise;
  network_.nodes.back().out_channels = 0;
  return name;
}

std::string GraphBuilder::batch_norm(const std::string& name, const std::string& from) {
  Node node;
  node.name = name;
  node.op = Op::kBatchNorm;
  node.inputs = {from};
  return append(std::move(node));
}

std::string GraphBuilder::relu(const std::string& name, const std::string& from) {
  Node node;
  node.name = name;
  node.op = Op::kRelu;
  node.inputs = {from};
  return append(std::move(node));
}

std::string GraphBuilder::sigmoid(const std::string& name, const std::string& from) {
  Node node;
  node.name = name;
  node.op = Op::kSigmoid;
  node.inputs = {from};
  return append(std::move(node));
}

std::string GraphBuilder::upsample(const std::string& name, const std::string& from, int factor) {
  Node node;
  node.name = name;
  node.op = Op::kUpsample;
  node.inputs = {from};
  node.factor = factor;
  return append(std::move(node));
}

std::string GraphBuilder::add(const std::string& name, const std::string& a, const std::string& b) {
  Node node;
  node.name = name;
  node.op = Op::kAdd;
  node.inputs = {a, b};
  return append(std::move(node));
}

std::string GraphBuilder::concat(const std::string& name, const std::vector<std::string>& parts) {
  Node node;
  node.name = name;
  node.op = Op::kConcat;
  node.inputs = parts;
  return append(std::move(node));
}

std::string GraphBuilder::max_pool(const std::string& name, const std::string& from, int kernel, int stride) {
  Node node;
  node.name = name;
  node.op = Op::kMaxPool;
  node.inputs = {from};
  node.kernel = kernel;
  node.stride = stride;
  node.padding = (kernel - 1) / 2;
  return append(std::move(node));
}

std::string GraphBuilder::numbered_add(const std::string& a, const std::string& b) {
  return add(fmt::format("add_{}", ++adds_), a, b);
}

Network GraphBuilder::finish(std::string name, std::vector<std::string> outputs) {
  network_.name = std::move(name);
  network_.outputs = std::move(outputs);
  for (const WeightSlot& slot : weight_slots(network_)) {
    Array array{slot.shape, {}};
    array.values.assign(static_cast<std::size_t>(array.size()), 0.0f);
    network_.weights.emplace(slot.name, std::move(array));
  }
  return std::move(network_);
}

}  // namespace maskfit::network
