#include "prune/pruner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace maskfit::prune {
namespace {

using network::Array;
using network::Node;
using network::Op;

void refuse_bad_options(const PruneOptions& options) {
  const auto refuse = [](int value, const char* option) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("{} is no number of filters", value), option,
                      "use 1 or more");
  };
  if (options.granularity < 1) refuse(options.granularity, "--granularity");
  if (options.min_filters < 1) refuse(options.min_filters, "--min-filters");
}

std::vector<double> layer_statistic(const network::Network& network, const Layer& layer,
                                    Normalizer normalizer) {
  std::vector<double> norms = filter_norms(network.weights.at(layer.name + "/kernel"));
  for (const double norm : norms) {
    if (std::isfinite(norm)) continue;
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("the weights of layer '{}' are no finite numbers", layer.name), "",
                      "the training of this model went wrong; prune an earlier one");
  }
  return normalized(std::move(norms), normalizer);
}

// Places of the channels that stay.
std::vector<std::size_t> places_kept(const std::vector<int>& channels, const Kept& kept) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (channels[i] < 0 || kept[static_cast<std::size_t>(channels[i])]) places.push_back(i);
  }
  return places;
}

std::vector<std::size_t> all_places(std::int64_t size) {
  std::vector<std::size_t> places(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  return places;
}

// The chosen rows, and in each of them the chosen columns, of an array [rows][columns][...].
Array sliced(const Array& from, const std::vector<std::size_t>& rows,
             const std::vector<std::size_t>& columns) {
  const bool flat = from.shape.size() == 1;
  const auto width = flat ? 1 : static_cast<std::size_t>(from.shape[1]);
  const std::size_t block = from.values.size() / (static_cast<std::size_t>(from.shape[0]) * width);
  Array to{from.shape, {}};
  to.shape[0] = static_cast<std::int64_t>(rows.size());
  if (!flat) to.shape[1] = static_cast<std::int64_t>(columns.size());
  to.values.reserve(rows.size() * columns.size() * block);
  for (const std::size_t row : rows) {
    for (const std::size_t column : columns) {
      const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>((row * width + column) * block);
      to.values.insert(to.values.end(), begin, begin + static_cast<std::ptrdiff_t>(block));
    }
  }
  return to;
}

}  // namespace

Pruner::Pruner(const network::Network& network, const PruneOptions& options)
    : network_(network), options_(options), map_(map_channels(network, options.excluded)) {
  refuse_bad_options(options);
  std::vector<double> own;  // by filter number
  for (const Layer& layer : map_.layers) {
    const std::vector<double> statistic = layer_statistic(network, layer, options.normalizer);
    own.insert(own.end(), statistic.begin(), statistic.end());
  }
  filters_ = own.size();
  for (const Group& group : map_.groups) {
    std::vector<double> statistics;
    for (const std::vector<int>& bundle : group.bundles) {
      std::vector<double> members;
      for (const int filter : bundle) members.push_back(own[static_cast<std::size_t>(filter)]);
      statistics.push_back(combined(members, options.criterion));
    }
    statistics_.push_back(std::move(statistics));
  }
}

void Pruner::keep_in_group(std::size_t group, double threshold, Kept& kept) const {
  const Group& here = map_.groups[group];
  const std::vector<double>& statistic = statistics_[group];
  const auto set = [&](std::size_t bundle, bool stays) {
    for (const int filter : here.bundles[bundle]) kept[static_cast<std::size_t>(filter)] = stays;
  };
  for (std::size_t i = 0; i < here.bundles.size(); ++i) set(i, false);
  for (const int i : keep_set(statistic, {threshold, options_.granularity, options_.min_filters})) {
    set(static_cast<std::size_t>(i), true);
  }
  // Where concatenated layers meet an addition, all that stays could belong to one of them.
  for (const int member : here.layers) {
    const Layer& layer = map_.layers[static_cast<std::size_t>(member)];
    const auto begin = kept.begin() + layer.first;
    if (std::find(begin, begin + layer.filters, true) != begin + layer.filters) continue;
    std::size_t best = here.bundles.size();
    for (std::size_t i = 0; i < here.bundles.size(); ++i) {
      const bool mine = std::any_of(here.bundles[i].begin(), here.bundles[i].end(), [&](int filter) {
        return filter >= layer.first && filter < layer.first + layer.filters;
      });
      if (mine && (best == here.bundles.size() || statistic[i] > statistic[best])) best = i;
    }
    set(best, true);
  }
}

Kept Pruner::kept_in_group(std::size_t group, double threshold) const {
  Kept kept(filters_, true);
  if (map_.groups[group].kept_whole.empty()) keep_in_group(group, threshold, kept);
  return kept;
}

Kept Pruner::kept(double threshold) const {
  MASKFIT_CHECK(!std::isnan(threshold), "threshold={}", threshold);
  Kept kept(filters_, true);
  for (std::size_t i = 0; i < map_.groups.size(); ++i) {
    if (map_.groups[i].kept_whole.empty()) keep_in_group(i, threshold, kept);
  }
  return kept;
}

std::vector<double> Pruner::thresholds() const {
  std::vector<double> all = {kKeepAll};
  for (std::size_t i = 0; i < map_.groups.size(); ++i) {
    if (!map_.groups[i].kept_whole.empty()) continue;
    all.insert(all.end(), statistics_[i].begin(), statistics_[i].end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<int> Pruner::counts(const Kept& kept) const {
  std::vector<int> counts;
  for (const Layer& layer : map_.layers) {
    const auto begin = kept.begin() + layer.first;
    counts.push_back(static_cast<int>(std::count(begin, begin + layer.filters, true)));
  }
  return counts;
}

network::Network Pruner::outline(const Kept& kept) const {
  network::Network small;
  small.name = network_.name;
  small.input = network_.input;
  small.nodes = network_.nodes;
  small.outputs = network_.outputs;
  for (Node& node : small.nodes) {
    if (node.op != Op::kConv) continue;
    node.out_channels = static_cast<int>(places_kept(map_.channels.at(node.name), kept).size());
  }
  return small;
}

network::Network Pruner::pruned(const Kept& kept) const {
  network::Network small = outline(kept);
  for (const network::WeightSlot& slot : network::weight_slots(network_)) {
    const Array& from = network_.weights.at(slot.name);
    const bool plain_kernel = slot.op == Op::kConv && slot.shape.size() == 4;
    const std::vector<std::size_t> columns =
        plain_kernel ? places_kept(map_.channels.at(network_.node(slot.node).inputs[0]), kept)
                     : all_places(slot.shape.size() == 1 ? 1 : slot.shape[1]);
    small.weights.emplace(slot.name, sliced(from, places_kept(map_.channels.at(slot.node), kept), columns));
  }
  network::check_weights(small);
  return small;
}

std::optional<double> find_threshold(const Pruner& pruner,
                                     const std::function<bool(const Kept& kept)>& small_enough) {
  const std::vector<double> thresholds = pruner.thresholds();
  // The answer lies in [low, high); everything below low is too large.
  std::size_t low = 0, high = thresholds.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (small_enough(pruner.kept(thresholds[middle]))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == thresholds.size()) return std::nullopt;
  return thresholds[low];
}

}  // namespace maskfit::prune
