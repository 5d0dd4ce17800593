#pragma once

// ONNX files as plain structs: nodes, constants, inputs, outputs, metadata. No policy: which graphs are ours
// is decided in export/onnx_network.h. Read and written through onnx.proto, a subset of the published schema.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace maskfit::formats {

// Values are those of TensorProto.DataType.
enum class OnnxType { kFloat32 = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7, kFloat16 = 10 };
const char* name_of(OnnxType type);   // "float32", ...
std::int64_t size_of(OnnxType type);  // bytes of one element

// A constant ("initializer"): row-major, little-endian.
struct OnnxTensor {
  std::string name;
  OnnxType type = OnnxType::kFloat32;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::string bytes;                // product(shape) * size_of(type)

  std::int64_t size() const;  // elements
  bool operator==(const OnnxTensor&) const = default;
};

using OnnxAttribute =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;

struct OnnxNode {
  std::string name, op;  // op: "Conv", "Relu", ... of the default domain
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxAttribute> attributes;
  std::string domain;  // "" for ONNX's own operators
  bool operator==(const OnnxNode&) const = default;
};

// One axis: a number, or a name where any size will do ("batch").
using OnnxDimension = std::variant<std::int64_t, std::string>;

struct OnnxValue {
  std::string name;
  OnnxType type = OnnxType::kFloat32;
  std::vector<OnnxDimension> shape;
  bool operator==(const OnnxValue&) const = default;
};

struct OnnxModel {
  std::int64_t ir_version = 7, opset = 12;
  std::string producer, producer_version;
  std::string graph_name;
  std::vector<OnnxNode> nodes;  // every input is a constant, a graph input or an earlier node's output
  std::vector<OnnxTensor> constants;
  std::vector<OnnxValue> inputs, outputs;
  std::map<std::string, std::string> metadata;
  bool operator==(const OnnxModel&) const = default;
};

// REQUIRES values.size() == product(shape).
OnnxTensor onnx_tensor(std::string name, std::span<const float> values, std::vector<std::int64_t> shape);
OnnxTensor onnx_tensor(std::string name, std::span<const std::int8_t> values,
                       std::vector<std::int64_t> shape);
OnnxTensor onnx_tensor(std::string name, std::span<const std::int64_t> values,
                       std::vector<std::int64_t> shape);
// Rounded to the nearest float16, ties to even.
OnnxTensor onnx_tensor_f16(std::string name, std::span<const float> values, std::vector<std::int64_t> shape);

// kFloat32 and kFloat16. REQUIRES one of these types.
std::vector<float> float_values(const OnnxTensor& tensor);
std::vector<std::int8_t> int8_values(const OnnxTensor& tensor);    // REQUIRES kInt8
std::vector<std::int64_t> int64_values(const OnnxTensor& tensor);  // REQUIRES kInt64

// Equal models give equal bytes.
std::string encode_onnx(const OnnxModel& model);

// Throws base::Error (kRefused) naming the file for bytes that are no ONNX model, constants kept in other
// files, constants whose size is not what their shape says, and element or attribute kinds beyond those
// above.
OnnxModel decode_onnx(std::string_view bytes, const std::string& name_for_errors);

void write_onnx(const std::filesystem::path& path, const OnnxModel& model);  // atomic
OnnxModel read_onnx(const std::filesystem::path& path);

}  // namespace maskfit::formats
