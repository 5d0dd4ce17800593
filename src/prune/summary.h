#pragma once

// What pruning did: for people, for programs, and inside the pruned model file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "network/model_file.h"
#include "prune/pruner.h"

namespace maskfit::prune {

struct LayerRow {
  std::string name;
  std::size_t group = 0;  // place in ChannelMap::groups
  int filters_before = 0, filters_after = 0;
  // Parameters of the convolution and of the batch norm that reads it; its multiply-accumulates a picture.
  std::int64_t parameters_before = 0, parameters_after = 0;
  std::int64_t macs_before = 0, macs_after = 0;
  std::string note;  // why it was kept whole, or with which layers it shares its fate
  // AP lost when only this layer, and those that share its fate, are pruned; nothing when not measured.
  std::optional<double> ap_drop;
};

struct Summary {
  std::int64_t parameters_before = 0, parameters_after = 0;  // moving statistics included, as the reference
  std::int64_t macs_before = 0, macs_after = 0;
  std::vector<LayerRow> layers;  // in node order

  double parameter_ratio() const;  // after / before
  double mac_ratio() const;
};

Summary summarise(const Pruner& pruner, const Kept& kept);

// One line a layer, then the whole network. Shares of parameters and MACs are those of the unpruned network,
// so a column's "after" adds up to what is left.
std::string to_table(const Summary& summary);
// The same as a JSON object's text.
std::string to_json(const Summary& summary);

// The pruned model: `parent` with its network cut down. Its provenance says where it came from:
//   "prune/parent_digest"   SHA-256 of the parent's file
//   "prune/threshold", "prune/normalizer", "prune/criterion", "prune/granularity", "prune/min_filters",
//   "prune/excluded"
//   "prune/filters"         JSON: layer name to [before, after]
//   "prune/parameters"      JSON: [before, after]
//   "prune/parent/map", ... the parent's figures, which are no longer true of this model
network::Model pruned_model(const network::Model& parent, const std::string& parent_digest,
                            const Pruner& pruner, const PruneOptions& options, double threshold);

}  // namespace maskfit::prune
