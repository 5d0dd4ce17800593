#include "export/exported_model.h"

#include <cmath>

#include "base/error.h"

namespace maskfit::exporting {
namespace {

using network::Network;
using network::Node;
using network::Op;

struct PrecisionRow {
  Precision precision;
  const char* name;
};
constexpr PrecisionRow kPrecisions[] = {
    {Precision::kFloat32, "fp32"}, {Precision::kFloat16, "fp16"}, {Precision::kInt8, "int8"}};

// Multiplies what the convolution computes by the batch norm's factor and moves it by its offset.
void fold(const Node& norm, Node& conv, std::map<std::string, network::Array>& weights) {
  const auto& gamma = weights.at(norm.name + "/gamma").values;
  const auto& beta = weights.at(norm.name + "/beta").values;
  const auto& mean = weights.at(norm.name + "/moving_mean").values;
  const auto& variance = weights.at(norm.name + "/moving_variance").values;
  network::Array& kernel = weights.at(conv.name + "/kernel");
  network::Array& bias = weights[conv.name + "/bias"];
  if (!conv.bias) bias = {{static_cast<std::int64_t>(gamma.size())}, std::vector<float>(gamma.size(), 0.0f)};
  conv.bias = true;
  const std::size_t row = kernel.values.size() / gamma.size();
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double factor = gamma[c] / std::sqrt(static_cast<double>(variance[c]) + norm.epsilon);
    for (std::size_t k = c * row; k < (c + 1) * row; ++k) {
      kernel.values[k] = static_cast<float>(kernel.values[k] * factor);
    }
    bias.values[c] = static_cast<float>((static_cast<double>(bias.values[c]) - mean[c]) * factor + beta[c]);
  }
  for (const char* array : {"/gamma", "/beta", "/moving_mean", "/moving_variance"})
    weights.erase(norm.name + array);
}

}  // namespace

Precision precision_from_name(const std::string& name) {
  for (const PrecisionRow& row : kPrecisions) {
    if (name == row.name) return row.precision;
  }
  throw base::Error(base::ExitCode::kUsage, fmt::format("unknown precision '{}'", name), "--precision",
                    "use fp32, fp16 or int8");
}

const char* name_of(Precision precision) {
  for (const PrecisionRow& row : kPrecisions) {
    if (precision == row.precision) return row.name;
  }
  MASKFIT_CHECK(false, "precision={}", static_cast<int>(precision));
}

std::map<std::string, int> reader_counts(const Network& network) {
  std::map<std::string, int> readers;
  for (const Node& node : network.nodes) {
    for (const std::string& input : node.inputs) ++readers[input];
  }
  for (const std::string& output : network.outputs) ++readers[output];
  return readers;
}

Network fold_batch_norms(const Network& network) {
  const std::map<std::string, int> readers = reader_counts(network);
  Network folded = network;
  folded.nodes.clear();
  std::map<std::string, std::string> renamed;  // batch norm that is gone -> its convolution
  for (Node node : network.nodes) {
    for (std::string& input : node.inputs) {
      const auto found = renamed.find(input);
      if (found != renamed.end()) input = found->second;
    }
    Node* conv = nullptr;
    if (node.op == Op::kBatchNorm && readers.at(node.inputs[0]) == 1) {
      for (Node& earlier : folded.nodes) {
        if (earlier.name == node.inputs[0] && network::is_convolution(earlier.op)) conv = &earlier;
      }
    }
    if (conv == nullptr) {
      folded.nodes.push_back(std::move(node));
      continue;
    }
    fold(node, *conv, folded.weights);
    renamed[node.name] = conv->name;
  }
  return folded;
}

std::string tensor_name(const Network& network, const std::string& node) {
  MASKFIT_CHECK(network.outputs.size() == 2, "{} outputs", network.outputs.size());
  if (node == network.outputs[0]) return node + "/BiasAdd:0";
  if (node == network.outputs[1] || node == network.nodes.front().name) return node + ":0";
  return node;
}

}  // namespace maskfit::exporting
