#pragma once

// The graph (not the weights) as JSON text, the "network" entry of the model file (docs/model-format.md).

#include <string>
#include <string_view>

#include "network/network.h"

namespace maskfit::network {

// The Keras-like name of an operation: "conv", "batch_norm", ...
const char* op_name(Op op);

// Compact JSON; fields of a node that its operation does not use are left out.
std::string graph_to_json(const Network& network);

// Throws base::Error (kRefused) with `where` and the node at fault for text that is no JSON, for unknown,
// missing or mistyped fields and for a graph whose shapes do not fit.
Network graph_from_json(std::string_view text, const std::string& where);

}  // namespace maskfit::network
