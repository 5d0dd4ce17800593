#pragma once

// The inside of Detector: forward.cpp and backward.cpp run the plan over these members.

#include <map>
#include <string>
#include <vector>

#include "model/arrays.h"
#include "model/detector.h"
#include "model/fused_norm.h"
#include "model/outputs.h"
#include "model/plan.h"
#include "model/stem_conv.h"
#include "tensor/tensor.h"

namespace maskfit::model {

struct Detector::Impl {
  // What the backward pass of one node needs beyond its inputs' values.
  struct Kept {
    at::Tensor mean, invstd;  // kBatchNorm: of the batch; mean alone, less the bias, with moving statistics
    at::Tensor padded, max_indices;      // kMaxPool
    std::vector<std::int64_t> channels;  // kConcat: of each input
  };
  // The gradient of a node's value as it is gathered. A shared tensor belongs to several nodes and must not
  // be changed. A fusion takes two summands as they come; `second` may be compact (Incoming in fused_norm.h).
  struct NodeGradient {
    at::Tensor value;
    bool shared = false;
    at::Tensor second;
    int second_stride = 1;
  };
  // Gradients of one node's trainable arrays.
  struct ArrayGradients {
    at::Tensor kernel, bias, gamma, beta;
  };

  // Where the gradient of one of parameters() is gathered.
  struct GradientSlot {
    int node = 0;
    at::Tensor ArrayGradients::*array = nullptr;
    std::vector<std::int64_t> shape;
  };

  Impl(network::Network network_in, const DetectorOptions& options_in);

  Outputs forward(const at::Tensor& images, bool training);
  std::vector<at::Tensor> backward(const at::Tensor& loss);
  void fold_batch_norms();
  void copy_kernels();
  // Whether training runs the plan's fusions.
  bool runs_fusions() const;

  // Calls visit(slot, arrays of its node) in node order.
  template <typename Visit>
  void for_each_slot(Visit visit) {
    std::size_t node = 0;
    for (const network::WeightSlot& slot : slots) {
      while (network.nodes[node].name != slot.node) ++node;
      visit(slot, node);
    }
  }

  network::Network network;
  const DetectorOptions options;
  const at::Device device;
  const at::ScalarType type;  // of the backbone's activations
  const at::MemoryFormat format;
  const std::vector<network::WeightSlot> slots;
  Plan plan;
  std::vector<NodeArrays> arrays;  // one a node
  bool folded = false;
  bool copies_kept = false;  // compute copies are up to date without us
  GradientReady gradient_ready;

 private:
  // forward.cpp. Each returns the value of the step's node.
  at::Tensor run(const Step& step, bool training);
  at::Tensor run_conv(const Step& step);
  at::Tensor run_batch_norm(const Step& step, bool training);
  at::Tensor run_batch_norm_over_ranks(const Step& step);
  at::Tensor run_max_pool(const Step& step);
  void refresh_compute_kernels();
  void update_moving_statistics();
  Outputs make_outputs(bool training) const;

  // backward.cpp
  void run_backward(const Step& step);
  void backward_conv(const Step& step);
  void backward_batch_norm(const Step& step, const at::Tensor& gradient);
  void backward_batch_norm_over_ranks(const Step& step, const at::Tensor& gradient);
  void backward_max_pool(const Step& step, const at::Tensor& gradient);
  // stride > 1: compact; only where takes_two_gradients(node).
  void add_gradient(int node, const at::Tensor& gradient, bool shared, int stride = 1);
  std::vector<at::Tensor> collect_gradients();
  void list_gradients();
  void report_gradients(const Step& step);

  // fused.cpp: the steps whose fields `fusion`, `in_fusion` and `stem` apply while runs_fusions().
  Statistics statistics_job(const Step& norm);
  void run_statistics(const Step& norm);
  Normalise fusion_job(const Fusion& fusion);
  at::Tensor run_fusion(const Step& step);
  void backward_fusion(const Step& step);
  void fold_pictures(const at::Tensor& images);
  at::Tensor folded_kernel(const Step& stem);
  StemConv stem_conv(const Step& stem);
  int find_stem_norm();
  at::Tensor run_stem(const Step& stem);
  void backward_stem(const Step& stem, const at::Tensor& gradient);
  void backward_stem_and_norm(const Step& stem, const NormBackward& job);
  void* scratch_memory(std::int64_t bytes);
  bool takes_two_gradients(int node) const;
  // Its statistics are made by run_statistics().
  bool fused_norm(const Step& norm) const {
    return runs_fusions() && (norm.in_fusion || norm.fusion.exists());
  }

  // heads.cpp
  struct HeadGradients {
    at::Tensor pixels, kernel, bias;
  };
  bool splits_head(const Step& step) const;
  at::Tensor run_split_head(const at::Tensor& x, const at::Tensor& kernel, const at::Tensor& bias);
  HeadGradients backward_split_head(const at::Tensor& x, const at::Tensor& kernel, const at::Tensor& gradient,
                                    bool to_pixels);

  // Shared by both.
  const network::Node& node(const Step& step) const {
    return network.nodes[static_cast<std::size_t>(step.node)];
  }
  at::Tensor& value(int node) { return values[static_cast<std::size_t>(node)]; }
  NodeArrays& arrays_of(int node) { return arrays[static_cast<std::size_t>(node)]; }
  Kept& kept_of(int node) { return kept[static_cast<std::size_t>(node)]; }
  // Channels are convolved in this many groups: all of them together, or each by itself.
  std::int64_t groups_of(const network::Node& conv, const at::Tensor& kernel) const {
    return conv.op == network::Op::kDepthwise ? kernel.size(0) : 1;
  }
  // Dilation to call LibTorch with.
  std::int64_t dilation_of(const network::Node& conv) const;
  // The value a convolution reads: in float32 for a head.
  at::Tensor conv_input(const Step& step);
  // The kernel a convolution runs with: all of its group's, one after the other.
  at::Tensor conv_kernel(const Step& step);

  std::vector<at::Tensor> values;  // by node; freed as soon as nobody reads them
  std::vector<Kept> kept;
  std::vector<NodeGradient> gradients;
  std::vector<ArrayGradients> array_gradients;
  std::vector<GradientSlot> gradient_slots;  // in the order of parameters()
  std::vector<bool> reported;                // by slot, in this backward pass
  // Of the last forward(): whether it folded the pictures, and the norm that ran with the first convolution.
  bool pictures_folded = false;
  int stem_norm = -1;
  std::map<std::int64_t, at::Tensor> scratch;  // of the fused kernels, on a GPU, by size
  Outputs last_outputs;                        // of the last training forward, until backward() uses it up
};

}  // namespace maskfit::model
