#include "export/onnx_reader.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "export/onnx_writer.h"

namespace maskfit::exporting {
namespace {

using formats::OnnxModel;
using formats::OnnxNode;
using formats::OnnxTensor;
using formats::OnnxType;
using network::Node;
using network::Op;
using Integers = std::vector<std::int64_t>;

// A tensor of the graph in terms of our network.
struct Source {
  std::string node;      // whose output it carries
  float scale = 0;       // above 0: after QuantizeLinear (and DequantizeLinear) with this scale
  int zero_padding = 0;  // after a Pad that belongs to a max pool
};

class GraphReader {
 public:
  GraphReader(const OnnxModel& onnx, const std::string& file) : onnx_(onnx), file_(file) {
    for (const OnnxTensor& constant : onnx.constants) constants_[constant.name] = &constant;
  }

  ExportedModel read() {
    check_origin();
    read_metadata();
    network::Network& network = result_.model.network;
    network.name = onnx_.graph_name;
    read_input();
    for (const OnnxNode& node : onnx_.nodes) read_node(node);
    if (onnx_.outputs.size() != 2)
      refuse(fmt::format("{} outputs where a detector has two", onnx_.outputs.size()));
    for (const std::size_t i : {1, 0})
      network.outputs.push_back(source(onnx_.outputs[i].name, "the graph's output").node);
    try {
      network::check_weights(network);
      check_detector();
    } catch (const base::CheckFailed& error) {
      refuse(fmt::format("graph and constants do not agree: {}", error.what()));
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(
      const std::string& what,
      const std::string& hint = "the file was changed after maskfit export wrote it; export again") const {
    throw base::Error(base::ExitCode::kRefused, what, file_, hint);
  }

  void check_origin() const {
    const auto format = onnx_.metadata.find(kOnnxFormatKey);
    if (format == onnx_.metadata.end() || format->second != kOnnxFormat) {
      refuse(fmt::format("an ONNX model of another tool ({})",
                         onnx_.producer.empty() ? "unnamed" : onnx_.producer),
             "only files of maskfit export run here: a foreign graph does not say how pictures go in and "
             "boxes come out");
    }
    long long version = 0;
    if (!base::parse_int(text(kOnnxVersionKey), &version)) refuse("the version of the file is no number");
    if (version > kOnnxVersion) {
      refuse(fmt::format("exported models of version {} are newer than this maskfit, which reads {}", version,
                         kOnnxVersion),
             "update maskfit");
    }
  }

  const std::string& text(const char* key) const {
    const auto found = onnx_.metadata.find(key);
    if (found == onnx_.metadata.end()) refuse(fmt::format("the metadata lacks '{}'", key));
    return found->second;
  }

  void read_metadata() {
    network::Model& model = result_.model;
    model.canvas = text(kOnnxCanvasKey);
    model.postprocessing = text(kOnnxPostprocessingKey);
    if (!base::parse_float(text(kOnnxScaleKey), &model.box_scale) ||
        !base::parse_float(text(kOnnxOffsetKey), &model.box_offset) || !(model.box_scale > 0)) {
      refuse("the box scale or offset is no number");
    }
    try {
      nlohmann::json::parse(text(kOnnxClassesKey)).get_to(model.class_names);
      nlohmann::json::parse(text(kOnnxProvenanceKey)).get_to(model.provenance);
    } catch (const nlohmann::json::exception& error) {
      refuse(fmt::format("the metadata cannot be read: {}", error.what()));
    }
  }

  void read_input() {
    if (onnx_.inputs.size() != 1 || onnx_.inputs[0].shape.size() != 4) refuse("not one input of four axes");
    int sides[3] = {0, 0, 0};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto* side = std::get_if<std::int64_t>(&onnx_.inputs[0].shape[i + 1]);
      if (side == nullptr || *side <= 0 || *side > 1 << 16)
        refuse("the input's channels, height and width are not fixed");
      sides[i] = static_cast<int>(*side);
    }
    network::Network& network = result_.model.network;
    network.input = {sides[0], sides[1], sides[2]};
    Node node;
    node.name = onnx_.inputs[0].name;
    if (node.name.ends_with(":0")) node.name.resize(node.name.size() - 2);
    sources_[onnx_.inputs[0].name] = {node.name, 0, 0};
    network.nodes.push_back(std::move(node));
  }

  const Source& source(const std::string& tensor, const std::string& reader) const {
    const auto found = sources_.find(tensor);
    if (found == sources_.end())
      refuse(fmt::format("{} reads '{}', which nothing before it makes", reader, tensor));
    return found->second;
  }

  const OnnxTensor& constant(const OnnxNode& node, std::size_t input) const {
    const auto found = input < node.inputs.size() ? constants_.find(node.inputs[input]) : constants_.end();
    if (found == constants_.end())
      refuse(fmt::format("the node '{}' lacks its constant input {}", node.name, input));
    return *found->second;
  }

  std::vector<float> floats(const OnnxNode& node, std::size_t input) const {
    const OnnxTensor& tensor = constant(node, input);
    if (tensor.type == OnnxType::kFloat16) result_.precision = Precision::kFloat16;
    if (tensor.type != OnnxType::kFloat32 && tensor.type != OnnxType::kFloat16) {
      refuse(fmt::format("the constant '{}' is {}, not a real number", tensor.name, name_of(tensor.type)));
    }
    return float_values(tensor);
  }

  // An attribute that is a list with the same number everywhere.
  int same(const OnnxNode& node, const char* attribute, int otherwise) const {
    const auto found = node.attributes.find(attribute);
    if (found == node.attributes.end()) return otherwise;
    const auto* values = std::get_if<Integers>(&found->second);
    if (values == nullptr || values->empty())
      refuse(fmt::format("the node '{}' has an odd '{}'", node.name, attribute));
    for (const std::int64_t value : *values) {
      if (value != values->front() || value < 0 || value > 1 << 16) {
        refuse(fmt::format("the node '{}' has '{}' that differ by side", node.name, attribute));
      }
    }
    return static_cast<int>(values->front());
  }

  void take_array(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values) {
    result_.model.network.weights[name] = {std::move(shape), std::move(values)};
  }

  void read_kernel(const OnnxNode& onnx, Node& node) {
    if (onnx.inputs.size() < 2) refuse(fmt::format("the node '{}' has no kernel", onnx.name));
    const auto integers = integer_kernels_.find(onnx.inputs[1]);
    network::Array kernel;
    if (integers != integer_kernels_.end()) {
      const auto& [dequantise, quantised] = integers->second;
      const std::vector<float> scales = floats(*dequantise, 1);
      kernel.shape = quantised->shape;
      const std::vector<std::int8_t> values = int8_values(*quantised);
      if (kernel.shape.size() != 4 || static_cast<std::int64_t>(scales.size()) != kernel.shape[0] ||
          scales.empty()) {
        refuse(fmt::format("the kernel of '{}' has {} scales", onnx.name, scales.size()));
      }
      const std::size_t row = values.size() / scales.size();
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!(scales[k / row] > 0))
          refuse(fmt::format("a scale of the kernel of '{}' is not positive", onnx.name));
        kernel.values.push_back(static_cast<float>(values[k]) * scales[k / row]);
      }
      result_.quantisation.weight_scales[node.name] = scales;
    } else {
      kernel = {constant(onnx, 1).shape, floats(onnx, 1)};
    }
    if (kernel.shape.size() != 4)
      refuse(fmt::format("the kernel of '{}' has {} axes", onnx.name, kernel.shape.size()));
    node.out_channels = static_cast<int>(kernel.shape[0]);
    node.kernel = static_cast<int>(kernel.shape[2]);
    result_.model.network.weights[node.name + "/kernel"] = std::move(kernel);
  }

  void read_conv(const OnnxNode& onnx, Node& node) {
    node.op = Op::kConv;
    read_kernel(onnx, node);
    if (onnx.attributes.contains("auto_pad")) {
      refuse(fmt::format("the convolution '{}' does not have explicit pads", onnx.name));
    }
    const auto found = onnx.attributes.find("group");
    const auto* group = found == onnx.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    const std::vector<std::int64_t>& kernel = result_.model.network.weights.at(node.name + "/kernel").shape;
    if (group != nullptr && *group > 1) {
      if (*group != kernel[0] || kernel[1] != 1)
        refuse(fmt::format("the convolution '{}' has groups", onnx.name));
      node.op = Op::kDepthwise;
      node.out_channels = 0;
    }
    node.stride = same(onnx, "strides", 1);
    node.padding = same(onnx, "pads", 0);
    node.dilation = same(onnx, "dilations", 1);
    node.bias = onnx.inputs.size() > 2;
    if (node.bias) take_array(node.name + "/bias", constant(onnx, 2).shape, floats(onnx, 2));
    const bool integers = result_.quantisation.weight_scales.contains(node.name);
    if (integers != (source(onnx.inputs[0], onnx.name).scale > 0)) {
      refuse(fmt::format("the convolution '{}' mixes 8-bit and real numbers", onnx.name));
    }
  }

  void read_batch_norm(const OnnxNode& onnx, Node& node) {
    node.op = Op::kBatchNorm;
    const auto epsilon = onnx.attributes.find("epsilon");
    const auto* value = epsilon == onnx.attributes.end() ? nullptr : std::get_if<float>(&epsilon->second);
    node.epsilon = value != nullptr ? *value : 1e-5f;  // ONNX's default
    std::size_t input = 1;
    for (const char* array : {"/gamma", "/beta", "/moving_mean", "/moving_variance"}) {
      take_array(node.name + array, constant(onnx, input).shape, floats(onnx, input));
      ++input;
    }
  }

  void read_resize(const OnnxNode& onnx, Node& node) {
    node.op = Op::kUpsample;
    const std::vector<float> scales = floats(onnx, 2);
    if (scales.size() != 4 || scales[0] != 1 || scales[1] != 1 || scales[2] != scales[3] ||
        !(scales[2] >= 1) || scales[2] > 64 || scales[2] != std::floor(scales[2])) {
      refuse(fmt::format("the node '{}' does not enlarge by a whole number", onnx.name));
    }
    node.factor = static_cast<int>(scales[2]);
  }

  // Nodes that only carry a tensor on: true when this was one.
  bool read_carrier(const OnnxNode& onnx) {
    if (onnx.op == "Cast") {
      result_.precision = Precision::kFloat16;
    } else if (onnx.op == "DequantizeLinear" && constants_.contains(onnx.inputs.at(0))) {
      const OnnxTensor& kernel = constant(onnx, 0);
      if (kernel.type != OnnxType::kInt8) refuse(fmt::format("the kernel '{}' is not int8", kernel.name));
      integer_kernels_[onnx.outputs.at(0)] = {&onnx, &kernel};
      return true;
    } else if (onnx.op != "QuantizeLinear" && onnx.op != "DequantizeLinear" && onnx.op != "Pad") {
      return false;
    }
    Source carried = source(onnx.inputs.at(0), onnx.name);
    if (onnx.op == "QuantizeLinear" || onnx.op == "DequantizeLinear") {
      const std::vector<float> scale = floats(onnx, 1);
      if (scale.size() != 1 || !(scale[0] > 0))
        refuse(fmt::format("the node '{}' has no positive scale", onnx.name));
      const OnnxTensor& zero = constant(onnx, 2);
      if (zero.type != OnnxType::kInt8 || zero.bytes != std::string(1, '\0')) {
        refuse(fmt::format("the node '{}' is not symmetric", onnx.name));
      }
      carried.scale = scale[0];
    } else if (onnx.op == "Pad") {
      const Integers pads = int64_values(constant(onnx, 1));
      if (pads.size() != 8 || pads[2] != pads[3] || pads[6] != pads[2] || pads[7] != pads[2]) {
        refuse(fmt::format("the node '{}' pads unevenly", onnx.name));
      }
      carried.zero_padding = static_cast<int>(pads[2]);
    }
    sources_[onnx.outputs.at(0)] = carried;
    return true;
  }

  void read_node(const OnnxNode& onnx) {
    if (onnx.inputs.empty() || onnx.outputs.size() != 1)
      refuse(fmt::format("the node '{}' has no input or output", onnx.name));
    if (read_carrier(onnx)) return;
    Node node;
    node.name = onnx.name;
    const std::size_t inputs = onnx.op == "Add" || onnx.op == "Concat" ? onnx.inputs.size() : 1;
    for (std::size_t i = 0; i < inputs; ++i) {
      const Source& from = source(onnx.inputs[i], onnx.name);
      node.inputs.push_back(from.node);
      if (from.zero_padding > 0) node.padding = from.zero_padding;
      if (!(from.scale > 0)) continue;
      result_.quantisation.edges.insert({node.name, static_cast<int>(i)});
      result_.quantisation.scales[from.node] = from.scale;
    }
    if (onnx.op == "Conv") {
      read_conv(onnx, node);
    } else if (onnx.op == "BatchNormalization") {
      read_batch_norm(onnx, node);
    } else if (onnx.op == "Resize") {
      read_resize(onnx, node);
    } else if (onnx.op == "MaxPool") {
      node.op = Op::kMaxPool;
      node.kernel = same(onnx, "kernel_shape", 1);
      node.stride = same(onnx, "strides", 1);
      node.dilation = same(onnx, "dilations", 1);
    } else if (onnx.op == "Concat") {
      const auto axis = onnx.attributes.find("axis");
      if (axis == onnx.attributes.end() || axis->second != formats::OnnxAttribute(std::int64_t{1})) {
        refuse(fmt::format("the node '{}' does not join channels", onnx.name));
      }
      node.op = Op::kConcat;
    } else if (onnx.op == "Relu" || onnx.op == "Sigmoid" || onnx.op == "Add") {
      node.op = onnx.op == "Relu" ? Op::kRelu : onnx.op == "Add" ? Op::kAdd : Op::kSigmoid;
    } else {
      refuse(fmt::format("the node '{}' is a {}, which no network of ours has", onnx.name, onnx.op));
    }
    sources_[onnx.outputs[0]] = {node.name, 0, 0};
    result_.model.network.nodes.push_back(std::move(node));
  }

  void check_detector() {
    const network::Model& model = result_.model;
    const auto shapes = network::infer_shapes(model.network);
    const int classes = shapes.at(model.network.outputs[1]).channels;
    if (shapes.at(model.network.outputs[0]).channels != 4 * classes ||
        static_cast<int>(model.class_names.size()) != classes) {
      refuse(fmt::format("{} box channels, {} coverage channels and {} class names do not go together",
                         shapes.at(model.network.outputs[0]).channels, classes, model.class_names.size()));
    }
    if (!result_.quantisation.empty()) result_.precision = Precision::kInt8;
  }

  const OnnxModel& onnx_;
  const std::string& file_;
  mutable ExportedModel result_;  // precision is noted while constants are read
  std::map<std::string, const OnnxTensor*> constants_;
  std::map<std::string, Source> sources_;
  std::map<std::string, std::pair<const OnnxNode*, const OnnxTensor*>>
      integer_kernels_;  // by dequantised tensor
};

}  // namespace

ExportedModel from_onnx(const OnnxModel& onnx, const std::string& name_for_errors) {
  return GraphReader(onnx, name_for_errors).read();
}

ExportedModel read_exported(const std::filesystem::path& path) {
  return from_onnx(formats::read_onnx(path), path.string());
}

}  // namespace maskfit::exporting
