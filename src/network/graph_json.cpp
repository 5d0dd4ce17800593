#include "network/graph_json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "network/check_reason.h"

namespace maskfit::network {
namespace {

using nlohmann::ordered_json;

struct OpRow {
  Op op;
  const char* name;
};
constexpr OpRow kOps[] = {{Op::kInput, "input"},
                          {Op::kConv, "conv"},
                          {Op::kDepthwise, "depthwise"},
                          {Op::kBatchNorm, "batch_norm"},
                          {Op::kRelu, "relu"},
                          {Op::kSigmoid, "sigmoid"},
                          {Op::kAdd, "add"},
                          {Op::kConcat, "concat"},
                          {Op::kUpsample, "upsample"},
                          {Op::kMaxPool, "max_pool"}};

// Calls visit(field name, member) for the fields that an operation has beyond name, op and inputs. The one
// list that writer and reader share.
template <typename NodeRef, typename Visit>
void visit_fields(NodeRef& node, Visit visit) {
  const bool windowed = is_convolution(node.op) || node.op == Op::kMaxPool;
  if (node.op == Op::kConv) visit("out_channels", node.out_channels);
  if (windowed) {
    visit("kernel", node.kernel);
    visit("stride", node.stride);
    visit("padding", node.padding);
    visit("dilation", node.dilation);
  }
  if (is_convolution(node.op)) visit("bias", node.bias);
  if (node.op == Op::kBatchNorm) {
    visit("epsilon", node.epsilon);
    visit("momentum", node.momentum);
  }
  if (node.op == Op::kUpsample) visit("factor", node.factor);
}

Op op_from_name(const std::string& name) {
  for (const OpRow& row : kOps) {
    if (name == row.name) return row.op;
  }
  throw base::Error(base::ExitCode::kRefused, fmt::format("unknown operation '{}'", name), "",
                    "the file may come from a newer maskfit; update");
}

Node node_from_json(const ordered_json& json) {
  Node node;
  json.at("name").get_to(node.name);
  node.op = op_from_name(json.at("op").get<std::string>());
  json.at("inputs").get_to(node.inputs);
  std::set<std::string> known = {"name", "op", "inputs"};
  visit_fields(node, [&](const char* field, auto& member) {
    json.at(field).get_to(member);
    known.insert(field);
  });
  for (const auto& [field, value] : json.items()) {
    if (!known.contains(field)) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("node '{}' has the unknown field '{}'", node.name, field));
    }
  }
  return node;
}

ordered_json json_of(int value) {
  return value;
}
ordered_json json_of(bool value) {
  return value;
}
// The shortest decimal that reads back as the same float: 0.99, not 0.9900000095367432.
ordered_json json_of(float value) {
  return ordered_json::parse(fmt::format("{}", value));
}

Network parse(std::string_view text) {
  const ordered_json json = ordered_json::parse(text);
  Network network;
  json.at("name").get_to(network.name);
  const auto input = json.at("input").get<std::vector<int>>();
  if (input.size() != 3)
    throw base::Error(base::ExitCode::kRefused, "'input' is not [channels, height, width]");
  network.input = {input[0], input[1], input[2]};
  for (const ordered_json& node : json.at("nodes")) network.nodes.push_back(node_from_json(node));
  json.at("outputs").get_to(network.outputs);
  infer_shapes(network);
  return network;
}

}  // namespace

const char* op_name(Op op) {
  for (const OpRow& row : kOps) {
    if (op == row.op) return row.name;
  }
  MASKFIT_CHECK(false, "op={}", static_cast<int>(op));
}

std::string graph_to_json(const Network& network) {
  ordered_json json;
  json["name"] = network.name;
  json["input"] = {network.input.channels, network.input.height, network.input.width};
  json["nodes"] = ordered_json::array();
  for (const Node& node : network.nodes) {
    ordered_json entry;
    entry["name"] = node.name;
    entry["op"] = op_name(node.op);
    entry["inputs"] = node.inputs;
    visit_fields(node, [&](const char* field, const auto& member) { entry[field] = json_of(member); });
    json["nodes"].push_back(std::move(entry));
  }
  json["outputs"] = network.outputs;
  return json.dump();
}

Network graph_from_json(std::string_view text, const std::string& where) {
  const auto broken = [&](const std::string& what, const std::string& hint) {
    return base::Error(base::ExitCode::kRefused, "the network description is broken: " + what, where,
                       hint.empty() ? "the file was damaged or edited; take it from its source again" : hint);
  };
  try {
    return parse(text);
  } catch (const base::Error& error) {
    throw broken(error.what(), error.hint());
  } catch (const base::CheckFailed& error) {
    throw broken(reason_of(error), "");
  } catch (const nlohmann::json::exception& error) {
    throw broken(error.what(), "");
  }
}

}  // namespace maskfit::network
