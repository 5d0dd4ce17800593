#pragma once

// The network as data: nodes, shapes, names and weights. Built from a recipe (backbones.h), turned into
// LibTorch modules (model/), sliced by the pruner, written as ONNX, saved in the model file. Nothing here
// needs LibTorch.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace maskfit::network {

// Float32 array with its shape. Convolution kernels are [out][in][height][width].
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  // Number of elements that the shape promises; 1 for a scalar.
  std::int64_t size() const;
  bool operator==(const Array&) const = default;
};

enum class Op {
  kInput,      // channels x height x width, values 0..1
  kConv,       // weights "<name>/kernel" and, with bias, "<name>/bias"
  kDepthwise,  // a filter a channel: "<name>/kernel" is [channels][1][height][width]; bias as kConv
  kBatchNorm,  // weights "<name>/gamma", "/beta", "/moving_mean", "/moving_variance"
  kRelu,
  kSigmoid,
  kAdd,       // two or more inputs of one shape
  kConcat,    // two or more inputs of one height and width: their channels one after the other
  kUpsample,  // nearest neighbour, integer `factor`
  kMaxPool,   // pads with zeros, as the reference does
};

struct Node {
  std::string name;  // the reference's layer names: conv1, bn_conv1, block_1a_conv_1, output_cov, ...
  Op op = Op::kInput;
  std::vector<std::string> inputs;  // names of earlier nodes
  // kConv, kDepthwise (without out_channels), kMaxPool; padding is explicit, the same on both sides
  int out_channels = 0, kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool bias = true;
  // kBatchNorm
  float epsilon = 1e-3f, momentum = 0.99f;
  // kUpsample
  int factor = 1;

  bool operator==(const Node&) const = default;
};

// kConv and kDepthwise: a kernel, an optional bias.
bool is_convolution(Op op);

struct Shape {
  int channels = 0, height = 0, width = 0;
  bool operator==(const Shape&) const = default;
};

struct Network {
  std::string name;  // e.g. resnet18_nopool_bn_detectnet_v2
  Shape input;
  std::vector<Node> nodes;               // topological order, the input first
  std::vector<std::string> outputs;      // bbox, then cov: "output_bbox", "output_cov/Sigmoid"
  std::map<std::string, Array> weights;  // by "<node>/<array>"

  const Node& node(const std::string& node_name) const;  // throws base::CheckFailed for an unknown name
  bool operator==(const Network&) const = default;
};

// The reference's "same" padding: symmetric, floor(((kernel - 1) * dilation + 1) / 2) on both sides.
// TensorFlow's own "same" is asymmetric for even sizes with stride 2; weights trained with one do not work
// with the other.
int same_padding(int kernel, int dilation = 1);
// Positions of a window: floor((size + 2 * padding - ((kernel - 1) * dilation + 1)) / stride) + 1.
int window_count(int size, int kernel, int stride, int padding, int dilation = 1);

// Output shape of every node by name. Throws base::CheckFailed naming the node where shapes do not fit.
std::map<std::string, Shape> infer_shapes(const Network& network);

// One array that a network needs: every network has exactly these under these names, in this order.
struct WeightSlot {
  std::string name;  // "<node>/<array>"
  std::string node;
  Op op = Op::kConv;
  std::vector<std::int64_t> shape;
  bool trainable = true;  // false for moving statistics
};
// In node order; inside a node kernel, bias and gamma, beta, moving_mean, moving_variance.
std::vector<WeightSlot> weight_slots(const Network& network);
// Throws base::CheckFailed unless the weights are exactly those of weight_slots(), with shapes and sizes.
void check_weights(const Network& network);

struct Counts {
  std::int64_t trainable = 0, non_trainable = 0;  // parameters
  std::int64_t macs = 0;                          // multiply-accumulates of convolutions for one picture
};
Counts count(const Network& network);

}  // namespace maskfit::network
