#include "export/onnx_writer.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/version.h"
#include "export/quantise.h"

namespace maskfit::exporting {
namespace {

using formats::OnnxAttribute;
using formats::OnnxModel;
using formats::OnnxType;
using network::Array;
using network::Network;
using network::Node;
using network::Op;
using Integers = std::vector<std::int64_t>;

constexpr int kLowestOpset = 11, kHighestOpset = 21, kDefaultOpset = 12, kPerChannelOpset = 13;

int opset_of(const ExportedModel& exported, int wanted) {
  const bool integers = exported.precision == Precision::kInt8;
  const int lowest = integers ? kPerChannelOpset : kLowestOpset;
  if (wanted == 0) return integers ? kPerChannelOpset : kDefaultOpset;
  if (wanted < lowest || wanted > kHighestOpset) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("opset {} cannot be written", wanted), "--opset",
                      fmt::format("{} takes {} to {}", name_of(exported.precision), lowest, kHighestOpset));
  }
  return wanted;
}

// Writes nodes in network order, and remembers which tensor carries which node's output.
class GraphWriter {
 public:
  GraphWriter(const ExportedModel& exported, OnnxModel& out)
      : exported_(exported),
        network_(exported.model.network),
        out_(out),
        half_(exported.precision == Precision::kFloat16) {}

  void write() {
    for (const Node& node : network_.nodes) {
      if (node.op == Op::kInput) {
        tensors_[node.name] = tensor_name(network_, node.name);
        if (half_) tensors_[node.name] = cast(tensors_[node.name], node.name + "/half", OnnxType::kFloat16);
      } else {
        append(node);
      }
    }
    if (!half_) return;
    for (const std::string& output : network_.outputs) {
      cast(tensors_.at(output), tensor_name(network_, output), OnnxType::kFloat32);
    }
  }

 private:
  // Outputs of a float16 graph are cast at the end, and only then have their names.
  std::string own_tensor(const std::string& node) const {
    const bool output = node == network_.outputs[0] || node == network_.outputs[1];
    return half_ && output ? node + "/half" : tensor_name(network_, node);
  }

  void add(const std::string& name, const std::string& op, std::vector<std::string> inputs,
           const std::string& output, std::map<std::string, OnnxAttribute> attributes = {}) {
    out_.nodes.push_back({name, op, std::move(inputs), {output}, std::move(attributes), ""});
  }

  std::string cast(const std::string& from, const std::string& to, OnnxType type) {
    add(to + "/cast", "Cast", {from}, to, {{"to", static_cast<std::int64_t>(type)}});
    return to;
  }

  std::string constant(const std::string& name, const Array& array) {
    out_.constants.push_back(
        half_ ? formats::onnx_tensor_f16(name, array.values, array.shape)
              : formats::onnx_tensor(name, std::span<const float>(array.values), array.shape));
    return name;
  }
  std::string constant(const std::string& name, const Integers& values) {
    out_.constants.push_back(formats::onnx_tensor(name, std::span<const std::int64_t>(values),
                                                  {static_cast<std::int64_t>(values.size())}));
    return name;
  }

  // The tensor that input `i` of the node reads, through 8 bit where the quantisation says so.
  std::string input(const Node& node, int i) {
    const std::string& from = node.inputs[static_cast<std::size_t>(i)];
    if (!exported_.quantisation.edges.contains({node.name, i})) return tensors_.at(from);
    const std::string dequantised = from + "/dequantised";
    if (!quantised_.insert(from).second) return dequantised;
    const float scale = exported_.quantisation.scales.at(from);
    const std::int8_t zero = 0;
    out_.constants.push_back(formats::onnx_tensor(from + "/scale", std::span<const float>(&scale, 1), {}));
    out_.constants.push_back(
        formats::onnx_tensor(from + "/zero", std::span<const std::int8_t>(&zero, 1), {}));
    add(from + "/quantise", "QuantizeLinear", {tensors_.at(from), from + "/scale", from + "/zero"},
        from + "/quantised");
    add(from + "/dequantise", "DequantizeLinear", {from + "/quantised", from + "/scale", from + "/zero"},
        dequantised);
    return dequantised;
  }

  std::string kernel(const Node& node) {
    const std::string name = node.name + "/kernel";
    const Array& array = network_.weights.at(name);
    const auto scales = exported_.quantisation.weight_scales.find(node.name);
    if (scales == exported_.quantisation.weight_scales.end()) return constant(name, array);
    const std::vector<std::int8_t> integers = quantised_kernel(array, scales->second);
    const auto channels = static_cast<std::int64_t>(scales->second.size());
    const std::vector<std::int8_t> zeros(scales->second.size(), 0);
    out_.constants.push_back(
        formats::onnx_tensor(name + "/int8", std::span<const std::int8_t>(integers), array.shape));
    out_.constants.push_back(
        formats::onnx_tensor(name + "/scale", std::span<const float>(scales->second), {channels}));
    out_.constants.push_back(
        formats::onnx_tensor(name + "/zero", std::span<const std::int8_t>(zeros), {channels}));
    add(name + "/dequantise", "DequantizeLinear", {name + "/int8", name + "/scale", name + "/zero"}, name,
        {{"axis", std::int64_t{0}}});
    return name;
  }

  static std::map<std::string, OnnxAttribute> window(const Node& node, std::int64_t padding) {
    return {{"kernel_shape", Integers{node.kernel, node.kernel}},
            {"strides", Integers{node.stride, node.stride}},
            {"pads", Integers{padding, padding, padding, padding}},
            {"dilations", Integers{node.dilation, node.dilation}}};
  }

  void conv(const Node& node, const std::string& to) {
    std::vector<std::string> inputs = {input(node, 0), kernel(node)};
    if (node.bias) inputs.push_back(constant(node.name + "/bias", network_.weights.at(node.name + "/bias")));
    auto attributes = window(node, node.padding);
    // A depthwise kernel is [channels][1][k][k]: as many groups as channels.
    const std::int64_t channels = network_.weights.at(node.name + "/kernel").shape[0];
    attributes["group"] = node.op == Op::kDepthwise ? channels : std::int64_t{1};
    add(node.name, "Conv", std::move(inputs), to, std::move(attributes));
  }

  // ONNX pads a maximum with minus infinity, the reference with zeros: a node of its own pads.
  void max_pool(const Node& node, const std::string& to) {
    std::string from = input(node, 0);
    if (node.padding > 0) {
      const std::int64_t p = node.padding;
      const std::string pads = constant(node.name + "/pads", Integers{0, 0, p, p, 0, 0, p, p});
      add(node.name + "/pad", "Pad", {from, pads}, node.name + "/padded",
          {{"mode", std::string("constant")}});
      from = node.name + "/padded";
    }
    add(node.name, "MaxPool", {from}, to, window(node, 0));
  }

  // ONNX adds two tensors at a time.
  void sum(const Node& node, const std::string& to) {
    std::string sum = input(node, 0);
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const bool last = i + 1 == node.inputs.size();
      const std::string partial = last ? to : fmt::format("{}/sum{}", node.name, i);
      add(last ? node.name : partial, "Add", {sum, input(node, static_cast<int>(i))}, partial);
      sum = partial;
    }
  }

  void upsample(const Node& node, const std::string& to) {
    const float f = static_cast<float>(node.factor);
    const float scales[] = {1, 1, f, f};
    // The region of interest says nothing for this kind of resize, but up to operator set 12 it may not be
    // left out.
    out_.constants.push_back(formats::onnx_tensor(node.name + "/roi", std::span<const float>(), {0}));
    out_.constants.push_back(
        formats::onnx_tensor(node.name + "/scales", std::span<const float>(scales), {4}));
    add(node.name, "Resize", {input(node, 0), node.name + "/roi", node.name + "/scales"}, to,
        {{"mode", std::string("nearest")},
         {"coordinate_transformation_mode", std::string("asymmetric")},
         {"nearest_mode", std::string("floor")}});
  }

  void append(const Node& node) {
    const std::string to = own_tensor(node.name);
    switch (node.op) {
      case Op::kConv:
      case Op::kDepthwise:
        conv(node, to);
        break;
      case Op::kBatchNorm: {
        std::vector<std::string> inputs = {input(node, 0)};
        for (const char* array : {"/gamma", "/beta", "/moving_mean", "/moving_variance"}) {
          inputs.push_back(constant(node.name + array, network_.weights.at(node.name + array)));
        }
        add(node.name, "BatchNormalization", std::move(inputs), to, {{"epsilon", node.epsilon}});
        break;
      }
      case Op::kRelu:
        add(node.name, "Relu", {input(node, 0)}, to);
        break;
      case Op::kSigmoid:
        add(node.name, "Sigmoid", {input(node, 0)}, to);
        break;
      case Op::kAdd:
        sum(node, to);
        break;
      case Op::kConcat: {
        std::vector<std::string> inputs;
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
          inputs.push_back(input(node, static_cast<int>(i)));
        add(node.name, "Concat", std::move(inputs), to, {{"axis", std::int64_t{1}}});
        break;
      }
      case Op::kUpsample:
        upsample(node, to);
        break;
      case Op::kMaxPool:
        max_pool(node, to);
        break;
      case Op::kInput:
        break;
    }
    tensors_[node.name] = to;
  }

  const ExportedModel& exported_;
  const Network& network_;
  OnnxModel& out_;
  const bool half_;
  std::map<std::string, std::string> tensors_;  // node -> the tensor with its output
  std::set<std::string> quantised_;             // nodes whose 8-bit version is in the graph already
};

formats::OnnxValue value_of(const Network& network, const std::string& node, const network::Shape& shape,
                            int batch) {
  formats::OnnxValue value{tensor_name(network, node), OnnxType::kFloat32, {}};
  value.shape.emplace_back(std::string("batch"));
  if (batch > 0) value.shape[0] = std::int64_t{batch};
  for (const int side : {shape.channels, shape.height, shape.width})
    value.shape.emplace_back(std::int64_t{side});
  return value;
}

std::map<std::string, std::string> metadata_of(const network::Model& model) {
  return {{kOnnxFormatKey, kOnnxFormat},
          {kOnnxVersionKey, fmt::format("{}", kOnnxVersion)},
          {kOnnxClassesKey, nlohmann::json(model.class_names).dump()},
          {kOnnxCanvasKey, model.canvas},
          {kOnnxScaleKey, fmt::format("{}", model.box_scale)},
          {kOnnxOffsetKey, fmt::format("{}", model.box_offset)},
          {kOnnxPostprocessingKey, model.postprocessing},
          {kOnnxProvenanceKey, nlohmann::json(model.provenance).dump()}};
}

}  // namespace

OnnxModel to_onnx(const ExportedModel& exported, const OnnxOptions& options) {
  if (options.batch < 0 || options.batch > 4096) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("a batch of {} cannot be", options.batch),
                      "--batch", "give a number of pictures, or dynamic");
  }
  const Network& network = exported.model.network;
  const auto shapes = network::infer_shapes(network);
  OnnxModel out;
  out.opset = opset_of(exported, options.opset);
  // Opset 15 came with IR version 8, 19 with 9; a runtime refuses what is newer than itself, so no higher
  // than needed.
  out.ir_version = out.opset >= 19 ? 9 : out.opset >= 15 ? 8 : 7;
  out.producer = "maskfit";
  out.producer_version = base::version();
  out.graph_name = network.name;
  out.metadata = metadata_of(exported.model);
  const std::string& input = network.nodes.front().name;
  out.inputs = {value_of(network, input, network.input, options.batch)};
  for (const std::size_t i : {1, 0}) {
    out.outputs.push_back(
        value_of(network, network.outputs[i], shapes.at(network.outputs[i]), options.batch));
  }
  GraphWriter(exported, out).write();
  return out;
}

}  // namespace maskfit::exporting
