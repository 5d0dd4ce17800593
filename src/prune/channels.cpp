#include "prune/channels.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::prune {
namespace {

using network::Node;
using network::Op;

constexpr int kPicture = -1;

// Union-find; a set is known by its smallest member.
class Sets {
 public:
  int add() {
    parent_.push_back(static_cast<int>(parent_.size()));
    return parent_.back();
  }
  int find(int member) const {
    while (parent_[place(member)] != member) member = parent_[place(member)];
    return member;
  }
  void unite(int a, int b) {
    a = find(a), b = find(b);
    parent_[place(std::max(a, b))] = std::min(a, b);
  }
  int size() const { return static_cast<int>(parent_.size()); }

 private:
  static std::size_t place(int member) { return static_cast<std::size_t>(member); }
  std::vector<int> parent_;
};

class Tracer {
 public:
  explicit Tracer(const network::Network& network)
      : network_(network), shapes_(network::infer_shapes(network)) {
    for (const Node& node : network.nodes) map_.channels[node.name] = channels_of(node);
  }

  ChannelMap finish(const std::vector<std::string>& excluded) {
    for (const std::string& output : network_.outputs) keep_whole(output, "output of the network");
    for (const std::string& name : excluded) {
      refuse_unknown(name);
      keep_whole(name, "excluded");
    }
    make_groups();
    return std::move(map_);
  }

 private:
  std::vector<int> channels_of(const Node& node) {
    const auto input = [&](std::size_t i) -> const std::vector<int>& {
      return map_.channels.at(node.inputs[i]);
    };
    switch (node.op) {
      case Op::kInput:
        return std::vector<int>(static_cast<std::size_t>(network_.input.channels), kPicture);
      case Op::kConv:
        return add_layer(node);
      case Op::kDepthwise: {
        const std::vector<int> own = add_layer(node);
        tie(own, input(0));
        return own;
      }
      case Op::kAdd:
        for (std::size_t i = 1; i < node.inputs.size(); ++i) tie(input(0), input(i));
        return input(0);
      case Op::kConcat: {
        std::vector<int> joined;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
          joined.insert(joined.end(), input(i).begin(), input(i).end());
        }
        return joined;
      }
      case Op::kBatchNorm:
      case Op::kRelu:
      case Op::kSigmoid:
      case Op::kUpsample:
      case Op::kMaxPool:
        return input(0);
    }
    MASKFIT_CHECK(false, "node '{}': op={}", node.name, static_cast<int>(node.op));
  }

  std::vector<int> add_layer(const Node& node) {
    const int filters = shapes_.at(node.name).channels;
    map_.layers.push_back({node.name, filters, filters_.size()});
    layer_sets_.add();
    std::vector<int> own;
    for (int i = 0; i < filters; ++i) {
      own.push_back(filters_.add());
      layer_of_.push_back(static_cast<int>(map_.layers.size()) - 1);
    }
    return own;
  }

  void tie(const std::vector<int>& a, const std::vector<int>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == kPicture || b[i] == kPicture) {
        const int filter = std::max(a[i], b[i]);
        if (filter != kPicture) reasons_[filter] = "tied to the channels of the picture";
        continue;
      }
      filters_.unite(a[i], b[i]);
      layer_sets_.unite(layer_of(a[i]), layer_of(b[i]));
    }
  }

  void keep_whole(const std::string& node, const std::string& reason) {
    for (const int filter : map_.channels.at(node)) {
      if (filter != kPicture) reasons_.emplace(filter, reason);
    }
  }

  void refuse_unknown(const std::string& name) const {
    if (map_.channels.contains(name)) return;
    std::vector<std::string> known;
    for (const Layer& layer : map_.layers) known.push_back(layer.name);
    const std::string nearest = base::nearest_name(name, known);
    throw base::Error(base::ExitCode::kUsage, fmt::format("the network has no layer '{}'", name), "--exclude",
                      nearest.empty() ? "the table that prune prints lists the layers"
                                      : fmt::format("did you mean '{}'?", nearest));
  }

  void make_groups() {
    std::map<int, std::size_t> group_of_set, bundle_of_set;
    for (std::size_t i = 0; i < map_.layers.size(); ++i) {
      const int set = layer_sets_.find(static_cast<int>(i));
      const auto [at, is_new] = group_of_set.emplace(set, map_.groups.size());
      if (is_new) map_.groups.emplace_back();
      Group& group = map_.groups[at->second];
      group.layers.push_back(static_cast<int>(i));
      const Layer& layer = map_.layers[i];
      for (int filter = layer.first; filter < layer.first + layer.filters; ++filter) {
        const auto [bundle, first] = bundle_of_set.emplace(filters_.find(filter), group.bundles.size());
        if (first) group.bundles.emplace_back();
        group.bundles[bundle->second].push_back(filter);
        const auto reason = reasons_.find(filter);
        if (reason != reasons_.end() && group.kept_whole.empty()) group.kept_whole = reason->second;
      }
    }
  }

  int layer_of(int filter) const { return layer_of_[static_cast<std::size_t>(filter)]; }

  const network::Network& network_;
  const std::map<std::string, network::Shape> shapes_;
  ChannelMap map_;
  Sets filters_, layer_sets_;
  std::vector<int> layer_of_;           // by filter
  std::map<int, std::string> reasons_;  // by filter: why it stays
};

}  // namespace

ChannelMap map_channels(const network::Network& network, const std::vector<std::string>& excluded) {
  return Tracer(network).finish(excluded);
}

}  // namespace maskfit::prune
