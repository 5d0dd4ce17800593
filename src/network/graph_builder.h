#pragma once

// Appends nodes to a network. What every backbone, neck and head recipe is written in.

#include <string>
#include <vector>

#include "network/network.h"

namespace maskfit::network {

struct ConvOptions {
  int out_channels = 0, kernel = 1, stride = 1;
  bool bias = true;
};

// Every function appends one node that takes `from`, and returns the new node's name.
class GraphBuilder {
 public:
  // Begins with the node "input_1".
  explicit GraphBuilder(Shape input);

  // "Same" padding of the reference.
  std::string conv(const std::string& name, const std::string& from, const ConvOptions& options);
  // A filter a channel; `out_channels` of the options is not looked at.
  std::string depthwise(const std::string& name, const std::string& from, const ConvOptions& options);
  std::string batch_norm(const std::string& name, const std::string& from);
  std::string relu(const std::string& name, const std::string& from);
  std::string sigmoid(const std::string& name, const std::string& from);
  std::string upsample(const std::string& name, const std::string& from, int factor);
  std::string add(const std::string& name, const std::string& a, const std::string& b);
  std::string concat(const std::string& name, const std::vector<std::string>& parts);
  // "Same" padding of the reference: zeros.
  std::string max_pool(const std::string& name, const std::string& from, int kernel, int stride);
  // The reference leaves its additions without a name, and Keras numbers them: add_1, add_2, ...
  std::string numbered_add(const std::string& a, const std::string& b);

  const std::string& input() const { return network_.nodes.front().name; }
  // Name and outputs set, every array allocated and zero. The builder is used up.
  Network finish(std::string name, std::vector<std::string> outputs);

 private:
  std::string append(Node node);

  Network network_;
  int adds_ = 0;
};

}  // namespace maskfit::network
