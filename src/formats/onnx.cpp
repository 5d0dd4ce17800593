#include "formats/onnx.h"

#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "formats/float16.h"
#include "formats/onnx.pb.h"

namespace maskfit::formats {
namespace {

using base::Error;
using base::ExitCode;

struct TypeRow {
  OnnxType type;
  const char* name;
  int size;
};
constexpr TypeRow kTypes[] = {{OnnxType::kFloat32, "float32", 4}, {OnnxType::kUint8, "uint8", 1},
                              {OnnxType::kInt8, "int8", 1},       {OnnxType::kInt32, "int32", 4},
                              {OnnxType::kInt64, "int64", 8},     {OnnxType::kFloat16, "float16", 2}};

const TypeRow* row_of(int type) {
  for (const TypeRow& row : kTypes) {
    if (static_cast<int>(row.type) == type) return &row;
  }
  return nullptr;
}

template <typename T>
OnnxTensor tensor_of(std::string name, OnnxType type, std::span<const T> values,
                     std::vector<std::int64_t> shape) {
  OnnxTensor tensor{std::move(name), type, std::move(shape), std::string(values.size_bytes(), '\0')};
  MASKFIT_CHECK(static_cast<std::int64_t>(values.size()) == tensor.size(), "{} values for the constant '{}'",
                values.size(), tensor.name);
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

template <typename T>
std::vector<T> values_of(const OnnxTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

void fill(onnx_wire::Attribute& out, const std::string& name, const OnnxAttribute& attribute) {
  out.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    out.set_i(*integer);
    out.set_type(onnx_wire::Attribute::INT);
  } else if (const auto* number = std::get_if<float>(&attribute)) {
    out.set_f(*number);
    out.set_type(onnx_wire::Attribute::FLOAT);
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    out.set_s(*text);
    out.set_type(onnx_wire::Attribute::STRING);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    out.mutable_ints()->Add(integers->begin(), integers->end());
    out.set_type(onnx_wire::Attribute::INTS);
  } else {
    const auto& numbers = std::get<std::vector<float>>(attribute);
    out.mutable_floats()->Add(numbers.begin(), numbers.end());
    out.set_type(onnx_wire::Attribute::FLOATS);
  }
}

void fill(onnx_wire::Value& out, const OnnxValue& value) {
  out.set_name(value.name);
  auto* tensor = out.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(value.type));
  for (const OnnxDimension& dimension : value.shape) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
      dim->set_dim_value(*size);
    } else {
      dim->set_dim_param(std::get<std::string>(dimension));
    }
  }
}

void fill(onnx_wire::Graph& graph, const OnnxModel& model) {
  graph.set_name(model.graph_name);
  for (const OnnxNode& node : model.nodes) {
    auto* out = graph.add_node();
    for (const std::string& input : node.inputs) out->add_input(input);
    for (const std::string& output : node.outputs) out->add_output(output);
    out->set_name(node.name);
    out->set_op_type(node.op);
    if (!node.domain.empty()) out->set_domain(node.domain);
    for (const auto& [name, attribute] : node.attributes) fill(*out->add_attribute(), name, attribute);
  }
  for (const OnnxTensor& constant : model.constants) {
    auto* out = graph.add_initializer();
    out->mutable_dims()->Add(constant.shape.begin(), constant.shape.end());
    out->set_data_type(static_cast<int>(constant.type));
    out->set_name(constant.name);
    out->set_raw_data(constant.bytes);
  }
  for (const OnnxValue& value : model.inputs) fill(*graph.add_input(), value);
  for (const OnnxValue& value : model.outputs) fill(*graph.add_output(), value);
}

// Turns messages of one file into structs; every refusal names the file.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(ExitCode::kRefused, what, file_, hint);
  }

  OnnxTensor tensor(const onnx_wire::Tensor& in) const {
    if (in.data_location() != 0 || in.external_data_size() > 0) {
      refuse(fmt::format("the constant '{}' is kept in another file", in.name()),
             "save the model with its weights inside");
    }
    OnnxTensor out;
    out.name = in.name();
    out.type = type(in.data_type(), "constant", in.name());
    out.shape.assign(in.dims().begin(), in.dims().end());
    out.bytes = in.raw_data().empty() ? typed_bytes(in, out.type) : in.raw_data();
    std::int64_t elements = 1;
    for (const std::int64_t side : out.shape) {
      if (side < 0 || (side > 0 && elements > std::numeric_limits<int>::max() / side)) elements = -1;
      if (elements < 0) break;
      elements *= side;
    }
    if (elements < 0 || elements * size_of(out.type) != static_cast<std::int64_t>(out.bytes.size())) {
      refuse(fmt::format("the constant '{}' has {} bytes, not what its shape promises", out.name,
                         out.bytes.size()),
             "the file was damaged; take it from its source again");
    }
    return out;
  }

  OnnxAttribute attribute(const onnx_wire::Attribute& in, const std::string& node) const {
    switch (in.type()) {
      case onnx_wire::Attribute::INT:
        return in.i();
      case onnx_wire::Attribute::FLOAT:
        return in.f();
      case onnx_wire::Attribute::STRING:
        return in.s();
      case onnx_wire::Attribute::INTS:
        return std::vector<std::int64_t>(in.ints().begin(), in.ints().end());
      case onnx_wire::Attribute::FLOATS:
        return std::vector<float>(in.floats().begin(), in.floats().end());
      default:
        refuse(
            fmt::format("the attribute '{}' of the node '{}' is of a kind that is not read", in.name(), node),
            "only models that maskfit export wrote can be used here");
    }
  }

  OnnxValue value(const onnx_wire::Value& in) const {
    OnnxValue out;
    out.name = in.name();
    out.type = type(in.type().tensor_type().elem_type(), "input or output", in.name());
    for (const auto& dim : in.type().tensor_type().shape().dim()) {
      if (dim.value_case() == onnx_wire::Dimension::kDimValue) {
        out.shape.emplace_back(dim.dim_value());
      } else {
        out.shape.emplace_back(dim.dim_param());
      }
    }
    return out;
  }

 private:
  OnnxType type(int number, const char* what, const std::string& name) const {
    const TypeRow* row = row_of(number);
    if (row == nullptr) {
      refuse(fmt::format("the {} '{}' has the element type {}, which is not read", what, name, number),
             "only models that maskfit export wrote can be used here");
    }
    return row->type;
  }

  static std::string typed_bytes(const onnx_wire::Tensor& in, OnnxType type) {
    const auto bytes_of = [](const auto& values) {
      return std::string(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(*values.data()));
    };
    if (type == OnnxType::kFloat32) return bytes_of(in.float_data());
    if (type == OnnxType::kInt64) return bytes_of(in.int64_data());
    if (type == OnnxType::kInt32) return bytes_of(in.int32_data());
    std::string bytes;  // smaller types are stored one a 32-bit number, low bytes first
    for (const std::int32_t value : in.int32_data()) {
      bytes.append(reinterpret_cast<const char*>(&value), static_cast<std::size_t>(size_of(type)));
    }
    return bytes;
  }

  const std::string& file_;
};

}  // namespace

const char* name_of(OnnxType type) {
  const TypeRow* row = row_of(static_cast<int>(type));
  return row != nullptr ? row->name : "?";
}

std::int64_t size_of(OnnxType type) {
  const TypeRow* row = row_of(static_cast<int>(type));
  MASKFIT_CHECK(row != nullptr, "type={}", static_cast<int>(type));
  return row->size;
}

std::int64_t OnnxTensor::size() const {
  std::int64_t elements = 1;
  for (const std::int64_t side : shape) elements *= side;
  return elements;
}

OnnxTensor onnx_tensor(std::string name, std::span<const float> values, std::vector<std::int64_t> shape) {
  return tensor_of(std::move(name), OnnxType::kFloat32, values, std::move(shape));
}
OnnxTensor onnx_tensor(std::string name, std::span<const std::int8_t> values,
                       std::vector<std::int64_t> shape) {
  return tensor_of(std::move(name), OnnxType::kInt8, values, std::move(shape));
}
OnnxTensor onnx_tensor(std::string name, std::span<const std::int64_t> values,
                       std::vector<std::int64_t> shape) {
  return tensor_of(std::move(name), OnnxType::kInt64, values, std::move(shape));
}

OnnxTensor onnx_tensor_f16(std::string name, std::span<const float> values, std::vector<std::int64_t> shape) {
  std::vector<std::uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values) halves.push_back(float16_from_float(value));
  return tensor_of(std::move(name), OnnxType::kFloat16, std::span<const std::uint16_t>(halves),
                   std::move(shape));
}

std::vector<float> float_values(const OnnxTensor& tensor) {
  if (tensor.type == OnnxType::kFloat32) return values_of<float>(tensor);
  MASKFIT_CHECK(tensor.type == OnnxType::kFloat16, "'{}' is {}", tensor.name, name_of(tensor.type));
  std::vector<float> values;
  for (const std::uint16_t half : values_of<std::uint16_t>(tensor))
    values.push_back(float_from_float16(half));
  return values;
}

std::vector<std::int8_t> int8_values(const OnnxTensor& tensor) {
  MASKFIT_CHECK(tensor.type == OnnxType::kInt8, "'{}' is {}", tensor.name, name_of(tensor.type));
  return values_of<std::int8_t>(tensor);
}

std::vector<std::int64_t> int64_values(const OnnxTensor& tensor) {
  MASKFIT_CHECK(tensor.type == OnnxType::kInt64, "'{}' is {}", tensor.name, name_of(tensor.type));
  return values_of<std::int64_t>(tensor);
}

std::string encode_onnx(const OnnxModel& model) {
  onnx_wire::Model out;
  out.set_ir_version(model.ir_version);
  out.set_producer_name(model.producer);
  out.set_producer_version(model.producer_version);
  auto* opset = out.add_opset_import();
  opset->set_domain("");
  opset->set_version(model.opset);
  fill(*out.mutable_graph(), model);
  for (const auto& [key, value] : model.metadata) {
    auto* entry = out.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  return out.SerializeAsString();
}

OnnxModel decode_onnx(std::string_view bytes, const std::string& name_for_errors) {
  const Reader reader(name_for_errors);
  onnx_wire::Model in;
  if (bytes.empty() || bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !in.has_graph()) {
    reader.refuse(fmt::format("{} bytes that are no ONNX model", bytes.size()),
                  "give an .onnx file that maskfit export wrote; a torn copy must be copied again");
  }
  OnnxModel model;
  model.ir_version = in.ir_version();
  model.opset = 0;
  for (const auto& opset : in.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") model.opset = opset.version();
  }
  model.producer = in.producer_name();
  model.producer_version = in.producer_version();
  const onnx_wire::Graph& graph = in.graph();
  model.graph_name = graph.name();
  for (const auto& node : graph.node()) {
    OnnxNode out{node.name(),
                 node.op_type(),
                 {node.input().begin(), node.input().end()},
                 {node.output().begin(), node.output().end()},
                 {},
                 node.domain()};
    for (const auto& attribute : node.attribute()) {
      out.attributes.emplace(attribute.name(), reader.attribute(attribute, node.name()));
    }
    model.nodes.push_back(std::move(out));
  }
  for (const auto& constant : graph.initializer()) model.constants.push_back(reader.tensor(constant));
  for (const auto& value : graph.input()) model.inputs.push_back(reader.value(value));
  for (const auto& value : graph.output()) model.outputs.push_back(reader.value(value));
  for (const auto& entry : in.metadata_props()) model.metadata[entry.key()] = entry.value();
  return model;
}

void write_onnx(const std::filesystem::path& path, const OnnxModel& model) {
  base::write_file(path, encode_onnx(model));
}

OnnxModel read_onnx(const std::filesystem::path& path) {
  return decode_onnx(base::read_file(path), path.string());
}

}  // namespace maskfit::formats
