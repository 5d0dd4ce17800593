#pragma once

// A network to a smaller network of the same topology: filters of small norm and everything that belongs to
// them are taken away. The rules are the reference's; the numbers of the two agree exactly.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "network/network.h"
#include "prune/channels.h"
#include "prune/keep.h"

namespace maskfit::prune {

struct PruneOptions {
  Normalizer normalizer = Normalizer::kMax;
  Criterion criterion = Criterion::kUnion;
  int granularity = 8, min_filters = 16;  // see KeepRule
  std::vector<std::string> excluded;      // nodes whose channels all stay
};

// Below every statistic: takes nothing away.
inline constexpr double kKeepAll = -1;

// By filter number (ChannelMap): whether it stays.
using Kept = std::vector<bool>;

class Pruner {
 public:
  // Throws base::Error: kUsage for options out of range or an unknown excluded node, kRefused naming the
  // layer for weights that are no numbers. `network` must outlive this.
  Pruner(const network::Network& network, const PruneOptions& options);

  const network::Network& network() const { return network_; }
  const ChannelMap& map() const { return map_; }

  // The statistic that decides over a layer's filters is compared with `threshold`; see keep_set(). Layers
  // that share a fate share the combined statistic. At least one filter of every layer stays.
  Kept kept(double threshold) const;
  // The same with every group but one left whole.
  Kept kept_in_group(std::size_t group, double threshold) const;
  // All thresholds that make a difference, ascending, kKeepAll first.
  std::vector<double> thresholds() const;

  // Filters of each layer that stay, in the order of map().layers.
  std::vector<int> counts(const Kept& kept) const;
  // The smaller network without its weights: enough to count parameters and multiplications.
  network::Network outline(const Kept& kept) const;
  // The smaller network. Names and order of nodes stay.
  network::Network pruned(const Kept& kept) const;

 private:
  void keep_in_group(std::size_t group, double threshold, Kept& kept) const;

  const network::Network& network_;
  const PruneOptions options_;
  const ChannelMap map_;
  std::vector<std::vector<double>> statistics_;  // by group: one a bundle
  std::size_t filters_ = 0;                      // of all layers
};

// The smallest threshold whose network is small enough, by bisection; `small_enough` must not turn false as
// the threshold grows. Nothing when not even the largest threshold does.
std::optional<double> find_threshold(const Pruner& pruner,
                                     const std::function<bool(const Kept& kept)>& small_enough);

}  // namespace maskfit::prune
