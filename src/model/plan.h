#pragma once

// What an executor must know about a network beyond its nodes: who is fused with whom, which buffers may be
// overwritten, which values the backward pass still needs. Pure analysis, no LibTorch.

#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::model {

// A batch norm that runs together with what follows it (model/fused_norm.h): y = relu(norm + shortcut).
// Indices are places in Network::nodes, -1: none.
struct Fusion {
  int norm = -1;        // a kBatchNorm
  int other_norm = -1;  // the shortcut is another kBatchNorm
  int other = -1;       // the shortcut is this node's value
  bool relu = false;
  bool exists() const { return norm >= 0; }
};

// How one node is executed. Indices are places in Network::nodes.
struct Step {
  int node = 0;
  std::vector<int> inputs;
  // kConv: convolutions that read the same input with the same window and run as one with concatenated
  // kernels (the two heads); `node` is the first of them. The others' steps are `merged` and do nothing.
  std::vector<int> group;
  bool merged = false;
  // kConv whose only reader is a batch norm: the bias is not added to the pixels. Batch statistics cancel it
  // (its gradient is exactly 0), moving statistics absorb it: mean(conv + bias) = mean(conv) + bias.
  bool bias_in_batch_norm = false;
  // kBatchNorm: the convolution that only it reads and into which it can be folded, or -1.
  int conv = -1;
  // kConv that feeds an output: computed in float32 whatever the precision, for box coordinates need its
  // digits.
  bool head = false;
  // kRelu, kAdd: may overwrite the buffer of inputs[0].
  bool in_place = false;
  // The node's value is that of a fusion: a kRelu behind one or two norms, or a kBatchNorm alone. The nodes
  // that a kRelu's fusion runs are `in_fusion` and have no value of their own. Only an executor that runs
  // fusions heeds both; all other fields serve either kind.
  Fusion fusion;
  bool in_fusion = false;
  // kConv over a picture that can be folded (model/stem.h); nobody else reads the picture.
  bool stem = false;
  // A gradient has to flow through this node: something trainable lies at or before it.
  bool needs_gradient = false;
  // The backward pass reads the value of this node.
  bool saved = false;
  // Inputs whose value nobody reads after this step.
  std::vector<int> last_use;
};

struct Plan {
  std::vector<Step> steps;  // one a node, in node order
  int bbox = 0;             // node whose value is the box output
  bool has_stem = false;    // one of the steps is `stem`
  int cov_logits = 0;       // node whose sigmoid is the coverage output
};

// REQUIRES outputs = {bbox, cov} where cov is a kSigmoid node (CheckFailed otherwise, and for a kSigmoid
// elsewhere). frozen_nodes: convolutions whose arrays do not train.
Plan make_plan(const network::Network& network, const std::vector<std::string>& frozen_nodes = {});

}  // namespace maskfit::model
