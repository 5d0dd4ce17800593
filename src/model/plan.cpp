#include "model/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "model/fused_norm.h"

namespace maskfit::model {
namespace {

using network::Node;
using network::Op;

// Builds a plan field by field; each pass needs those before it.
class Planner {
 public:
  Planner(const network::Network& network, const std::vector<std::string>& frozen)
      : nodes_(network.nodes),
        shapes_(network::infer_shapes(network)),
        frozen_(frozen.begin(), frozen.end()),
        readers_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) index_[nodes_[i].name] = static_cast<int>(i);
    for (const Node& node : nodes_) {
      Step step;
      step.node = index_.at(node.name);
      for (const std::string& input : node.inputs) {
        step.inputs.push_back(index_.at(input));
        readers_[place(index_.at(input))].push_back(step.node);
      }
      plan_.steps.push_back(std::move(step));
    }
  }

  Plan make(const std::vector<std::string>& outputs) {
    find_outputs(outputs);
    find_bias_in_batch_norm();
    find_groups();
    find_gradient_flow();
    find_fusions();
    find_stem();
    find_saved();
    find_in_place();
    find_last_uses();
    return std::move(plan_);
  }

 private:
  static std::size_t place(int node) { return static_cast<std::size_t>(node); }
  const Node& node(int i) const { return nodes_[place(i)]; }
  Step& step(int i) { return plan_.steps[place(i)]; }
  const std::vector<int>& readers(int i) const { return readers_[place(i)]; }
  bool is_output(int i) const { return i == plan_.bbox || i == plan_.cov_logits; }

  void find_outputs(const std::vector<std::string>& outputs) {
    MASKFIT_CHECK(outputs.size() == 2, "a detector has two outputs, not {}", outputs.size());
    plan_.bbox = index_.at(outputs[0]);
    const int cov = index_.at(outputs[1]);
    MASKFIT_CHECK(node(cov).op == Op::kSigmoid, "the coverage output '{}' is no sigmoid", outputs[1]);
    plan_.cov_logits = step(cov).inputs[0];
    for (const Step& other : plan_.steps) {
      MASKFIT_CHECK(node(other.node).op != Op::kSigmoid || other.node == cov,
                    "'{}': a sigmoid inside the network", node(other.node).name);
    }
    for (const int output : {plan_.bbox, plan_.cov_logits}) step(output).head = node(output).op == Op::kConv;
  }

  void find_bias_in_batch_norm() {
    for (Step& norm : plan_.steps) {
      if (node(norm.node).op != Op::kBatchNorm) continue;
      Step& conv = step(norm.inputs[0]);
      const bool alone = readers(conv.node).size() == 1 && !is_output(conv.node);
      if (!network::is_convolution(node(conv.node).op) || !alone) continue;
      conv.bias_in_batch_norm = node(conv.node).bias;
      norm.conv = conv.node;
    }
  }

  void find_groups() {
    for (Step& each : plan_.steps) {
      if (network::is_convolution(node(each.node).op)) each.group = {each.node};
    }
    Step& box = step(plan_.bbox);
    Step& cov = step(plan_.cov_logits);
    if (!box.head || !cov.head || box.node == cov.node || box.inputs != cov.inputs) return;
    Node like = node(cov.node);
    like.name = node(box.node).name;
    like.out_channels = node(box.node).out_channels;
    if (like != node(box.node)) return;
    Step& first = box.node < cov.node ? box : cov;
    Step& second = box.node < cov.node ? cov : box;
    first.group = {first.node, second.node};
    second.merged = true;
  }

  void find_gradient_flow() {
    for (Step& each : plan_.steps) {
      const Node& here = node(each.node);
      const bool trains =
          here.op == Op::kBatchNorm || (network::is_convolution(here.op) && !frozen_.contains(here.name));
      each.needs_gradient = trains || std::any_of(each.inputs.begin(), each.inputs.end(),
                                                  [&](int input) { return step(input).needs_gradient; });
    }
  }

  // A batch norm that one node reads and whose channels the kernels take.
  bool fusible_norm(int i) const {
    return node(i).op == Op::kBatchNorm && readers(i).size() == 1 && !is_output(i) && takes_channels(i);
  }
  bool takes_channels(int i) const { return fused_norm_takes(shapes_.at(node(i).name).channels); }

  Fusion fusion_behind(int i) {
    if (fusible_norm(i)) return {.norm = i, .relu = true};
    if (node(i).op != Op::kAdd || readers(i).size() != 1 || is_output(i) || step(i).inputs.size() != 2)
      return {};
    int first = step(i).inputs[0], second = step(i).inputs[1];
    if (first == second) return {};
    if (!fusible_norm(first)) std::swap(first, second);
    if (!fusible_norm(first)) return {};
    if (fusible_norm(second)) return {.norm = first, .other_norm = second, .relu = true};
    return step(second).needs_gradient ? Fusion{.norm = first, .other = second, .relu = true} : Fusion{};
  }

  void find_fusions() {
    for (Step& each : plan_.steps) {
      if (node(each.node).op != Op::kRelu) continue;
      each.fusion = fusion_behind(each.inputs[0]);
      if (!each.fusion.exists()) continue;
      step(each.inputs[0]).in_fusion = true;
      step(each.fusion.norm).in_fusion = true;
      if (each.fusion.other_norm >= 0) step(each.fusion.other_norm).in_fusion = true;
    }
    for (Step& each : plan_.steps) {
      if (node(each.node).op != Op::kBatchNorm || each.in_fusion || !takes_channels(each.node)) continue;
      each.fusion = {.norm = each.node};
    }
  }

  void find_stem() {
    constexpr int kInput = 0;
    const network::Shape& input = shapes_.at(node(kInput).name);
    if (readers(kInput).size() != 1) return;
    Step& reader = step(readers(kInput)[0]);
    const Node& conv = node(reader.node);
    reader.stem = conv.op == Op::kConv && !reader.head && conv.stride == 2 && conv.kernel % 2 == 1 &&
                  conv.kernel > 1 && conv.padding == conv.kernel / 2 && conv.dilation == 1 &&
                  (input.channels == 1 || input.channels == 3) && input.height % 2 == 0 &&
                  input.width % 2 == 0;
    plan_.has_stem = reader.stem;
  }

  void find_saved() {
    for (Step& each : plan_.steps) {
      if (!each.needs_gradient) continue;
      switch (node(each.node).op) {
        case Op::kConv:
        case Op::kDepthwise:
        case Op::kBatchNorm:
        case Op::kMaxPool:
          step(each.inputs[0]).saved = true;
          break;
        case Op::kRelu:
          each.saved = true;
          if (each.fusion.other >= 0) step(each.fusion.other).saved = true;
          break;
        case Op::kInput:
        case Op::kAdd:
        case Op::kConcat:
        case Op::kUpsample:
        case Op::kSigmoid:
          break;
      }
    }
  }

  // The first input of an addition is the one that gives its buffer, so prefer one that may.
  void find_in_place() {
    for (Step& each : plan_.steps) {
      const Op op = node(each.node).op;
      if (op != Op::kRelu && op != Op::kAdd) continue;
      const auto gives =
          std::find_if(each.inputs.begin(), each.inputs.end(), [&](int i) { return may_overwrite(i); });
      if (gives == each.inputs.end()) continue;
      std::iter_swap(each.inputs.begin(), gives);
      each.in_place = true;
    }
  }

  bool may_overwrite(int i) {
    return readers(i).size() == 1 && !step(i).saved && !is_output(i) && node(i).op != Op::kInput;
  }

  void find_last_uses() {
    std::set<int> read_later = {plan_.bbox, plan_.cov_logits};
    for (auto each = plan_.steps.rbegin(); each != plan_.steps.rend(); ++each) {
      for (const int input : each->inputs) {
        if (read_later.insert(input).second) each->last_use.push_back(input);
      }
    }
  }

  const std::vector<Node>& nodes_;
  const std::map<std::string, network::Shape> shapes_;
  const std::set<std::string> frozen_;
  std::map<std::string, int> index_;
  std::vector<std::vector<int>> readers_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const network::Network& network, const std::vector<std::string>& frozen_nodes) {
  for (const std::string& name : frozen_nodes) network.node(name);
  return Planner(network, frozen_nodes).make(network.outputs);
}

}  // namespace maskfit::model
