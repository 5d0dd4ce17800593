#include "model/memory_need.h"

#include <algorithm>
#include <map>

#include "model/plan.h"

namespace maskfit::model {
namespace {

using network::Op;

constexpr double kFloatBytes = 4;
// Weights, gradients, average. The moments of the optimiser are left out: not every one has two of them.
constexpr double kCopiesInTraining = 3;

double elements(const network::Shape& shape) {
  return static_cast<double>(shape.channels) * shape.height * shape.width;
}

// Bytes of the value of every node, in node order.
std::vector<double> value_bytes(const network::Network& network, Precision precision) {
  const std::map<std::string, network::Shape> shapes = network::infer_shapes(network);
  std::vector<double> bytes;
  for (const network::Node& node : network.nodes) {
    const bool whole = node.op == Op::kInput || precision == Precision::kFloat32;
    bytes.push_back(elements(shapes.at(node.name)) * (whole ? kFloatBytes : kFloatBytes / 2));
  }
  return bytes;
}

double weight_bytes(const network::Network& network) {
  const network::Counts counts = network::count(network);
  return kFloatBytes * static_cast<double>(counts.trainable + counts.non_trainable);
}

}  // namespace

MemoryNeed training_memory(const network::Network& network, Precision precision) {
  const std::vector<double> bytes = value_bytes(network, precision);
  MemoryNeed need{kCopiesInTraining * weight_bytes(network), 0};
  double largest = 0;
  for (const Step& step : make_plan(network).steps) {
    const double size = bytes[static_cast<std::size_t>(step.node)];
    const bool input = network.nodes[static_cast<std::size_t>(step.node)].op == Op::kInput;
    if (step.saved || input) need.per_picture += size;
    if (step.saved && !input) largest = std::max(largest, size);
  }
  need.per_picture += largest;
  return need;
}

MemoryNeed inference_memory(const network::Network& network, Precision precision) {
  const std::vector<double> bytes = value_bytes(network, precision);
  double alive = 0, most = 0;
  for (const Step& step : make_plan(network).steps) {
    // A batch norm is folded into the convolution before it, or may take its input's place.
    const Op op = network.nodes[static_cast<std::size_t>(step.node)].op;
    const bool takes_over = op == Op::kBatchNorm || step.in_place;
    alive += bytes[static_cast<std::size_t>(step.node)];
    if (!takes_over) most = std::max(most, alive);
    for (const int input : step.last_use) alive -= bytes[static_cast<std::size_t>(input)];
    most = std::max(most, alive);
  }
  return {weight_bytes(network), most};
}

std::int64_t largest_batch(const MemoryNeed& need, double bytes) {
  const double room = (bytes - need.fixed) / need.per_picture;
  return room < 1 ? 0 : static_cast<std::int64_t>(std::min(room, 1e15));
}

}  // namespace maskfit::model
