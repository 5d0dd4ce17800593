#pragma once

// What an exported model is, apart from its file: the network as data, its precision, and where numbers are
// 8-bit. (The folder is called export; the word is reserved in C++, hence the name of the namespace.)

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "network/model_file.h"

namespace maskfit::exporting {

// Where the provenance of an exported model keeps the NMS overlap of its device.
inline constexpr const char* kNvinferOverlapKey = "nvinfer_nms_iou";

enum class Precision { kFloat32, kFloat16, kInt8 };
Precision precision_from_name(const std::string& name);  // fp32, fp16, int8; throws base::Error (kUsage)
const char* name_of(Precision precision);

// Symmetric 8-bit quantisation: real = scale * integer, integer = round half to even(real / scale) cut to
// [-128, 127], for weights to [-127, 127] (TensorRT's ranges).
struct Quantisation {
  // Of a node's output. Every node has one after a calibration; a graph read from a file only those that it
  // uses.
  std::map<std::string, float> scales;
  std::map<std::string, std::vector<float>>
      weight_scales;  // of a convolution that works on integers, one a channel out
  // (node, number of its input) that reads the 8-bit version. A convolution works on integers when its input
  // is here; an addition takes 8-bit numbers where a shortcut comes in.
  std::set<std::pair<std::string, int>> edges;

  bool empty() const { return edges.empty(); }
  bool operator==(const Quantisation&) const = default;
};

struct ExportedModel {
  network::Model model;
  Precision precision = Precision::kFloat32;
  Quantisation quantisation;  // empty unless kInt8
};

// Every batch norm that follows a convolution (and alone reads it) becomes part of it: kernel * gamma /
// sqrt(var + eps), computed in float64. The convolution keeps its name and gets a bias. Other batch norms
// stay.
network::Network fold_batch_norms(const network::Network& network);

// Names of tensors as DeepStream's DetectNet parser and TensorRT's tables know them: "input_1:0",
// "output_cov/Sigmoid:0", "output_bbox/BiasAdd:0" (it looks for outputs whose names contain "cov" and
// "bbox"), inside the network the node's name.
std::string tensor_name(const network::Network& network, const std::string& node);

// The number of readers of every node.
std::map<std::string, int> reader_counts(const network::Network& network);

}  // namespace maskfit::exporting
