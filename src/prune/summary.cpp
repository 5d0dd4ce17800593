#include "prune/summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace maskfit::prune {
namespace {

using Json = nlohmann::ordered_json;
using network::Network;
using network::Node;
using network::Op;

struct Cost {
  std::int64_t parameters = 0, macs = 0;
};

// By the convolution that it belongs to.
std::map<std::string, Cost> layer_costs(const Network& network) {
  std::map<std::string, Cost> costs;
  const auto shapes = network::infer_shapes(network);
  for (const network::WeightSlot& slot : network::weight_slots(network)) {
    const std::int64_t size = network::Array{slot.shape, {}}.size();
    const bool norm = slot.op == Op::kBatchNorm;
    Cost& cost = costs[norm ? network.node(slot.node).inputs[0] : slot.node];
    cost.parameters += size;
    const network::Shape& out = shapes.at(slot.node);
    if (slot.shape.size() == 4) cost.macs += size * out.height * out.width;
  }
  return costs;
}

std::int64_t parameters_of(const Network& network) {
  const network::Counts counts = network::count(network);
  return counts.trainable + counts.non_trainable;
}

std::string note_of(const ChannelMap& map, const Group& group, const std::string& layer) {
  if (!group.kept_whole.empty()) return group.kept_whole;
  std::vector<std::string> others;
  for (const int member : group.layers) {
    const std::string& name = map.layers[static_cast<std::size_t>(member)].name;
    if (name != layer) others.push_back(name);
  }
  return others.empty() ? "" : fmt::format("with {}", fmt::join(others, ", "));
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f} %", 100 * share(part, whole));
}

std::string drop_text(const LayerRow& row) {
  if (!row.ap_drop) return "";
  return fmt::format("{:+.4f}", std::abs(*row.ap_drop) < 5e-5 ? 0.0 : -*row.ap_drop);
}

}  // namespace

double Summary::parameter_ratio() const {
  return share(parameters_after, parameters_before);
}
double Summary::mac_ratio() const {
  return share(macs_after, macs_before);
}

Summary summarise(const Pruner& pruner, const Kept& kept) {
  const Network& before = pruner.network();
  const Network after = pruner.outline(kept);
  const ChannelMap& map = pruner.map();
  const std::map<std::string, Cost> costs_before = layer_costs(before), costs_after = layer_costs(after);
  Summary summary{parameters_of(before),
                  parameters_of(after),
                  network::count(before).macs,
                  network::count(after).macs,
                  {}};
  const std::vector<int> counts = pruner.counts(kept);
  summary.layers.resize(map.layers.size());
  for (std::size_t g = 0; g < map.groups.size(); ++g) {
    for (const int member : map.groups[g].layers) {
      const auto i = static_cast<std::size_t>(member);
      const Layer& layer = map.layers[i];
      const Cost &was = costs_before.at(layer.name), &is = costs_after.at(layer.name);
      summary.layers[i] = {.name = layer.name,
                           .group = g,
                           .filters_before = layer.filters,
                           .filters_after = counts[i],
                           .parameters_before = was.parameters,
                           .parameters_after = is.parameters,
                           .macs_before = was.macs,
                           .macs_after = is.macs,
                           .note = note_of(map, map.groups[g], layer.name),
                           .ap_drop = {}};
    }
  }
  return summary;
}

std::string to_table(const Summary& s) {
  std::size_t width = 5;
  for (const LayerRow& row : s.layers) width = std::max(width, row.name.size());
  const bool measured =
      std::any_of(s.layers.begin(), s.layers.end(), [](const LayerRow& row) { return row.ap_drop; });
  const auto line = [&](const std::string& name, const std::string& filters, const std::string& parameters,
                        const std::string& macs, const std::string& drop, const std::string& note) {
    std::string text = fmt::format("{:<{}}  {:>13}  {:>19}  {:>19}", name, width, filters, parameters, macs);
    if (measured) text += fmt::format("  {:>8}", drop);
    if (!note.empty()) text += "  " + note;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  };
  const auto arrow = [](const std::string& a, const std::string& b) {
    return fmt::format("{:>7} -> {:>7}", a, b);
  };
  std::string text = line("layer", "filters", "parameters", "MACs", "AP alone", "");
  for (const LayerRow& row : s.layers) {
    text += line(row.name, fmt::format("{:>4} -> {:>4}", row.filters_before, row.filters_after),
                 arrow(percent(row.parameters_before, s.parameters_before),
                       percent(row.parameters_after, s.parameters_before)),
                 arrow(percent(row.macs_before, s.macs_before), percent(row.macs_after, s.macs_before)),
                 drop_text(row), row.note);
  }
  text += line("all", "", arrow("100 %", percent(s.parameters_after, s.parameters_before)),
               arrow("100 %", percent(s.macs_after, s.macs_before)), "", "");
  const auto millions = [](std::int64_t n) { return static_cast<double>(n) / 1e6; };
  return text +
         fmt::format("\n{:.3f} of {:.3f} million parameters, {:.1f} of {:.1f} million MACs a picture\n",
                     millions(s.parameters_after), millions(s.parameters_before), millions(s.macs_after),
                     millions(s.macs_before));
}

std::string to_json(const Summary& s) {
  Json json = {{"parameters", {{"before", s.parameters_before}, {"after", s.parameters_after}}},
               {"parameter_ratio", s.parameter_ratio()},
               {"macs", {{"before", s.macs_before}, {"after", s.macs_after}}},
               {"mac_ratio", s.mac_ratio()},
               {"layers", Json::array()}};
  for (const LayerRow& row : s.layers) {
    json["layers"].push_back({{"name", row.name},
                              {"group", row.group},
                              {"filters", {row.filters_before, row.filters_after}},
                              {"parameters", {row.parameters_before, row.parameters_after}},
                              {"macs", {row.macs_before, row.macs_after}},
                              {"note", row.note},
                              {"ap_drop", row.ap_drop ? Json(*row.ap_drop) : Json(nullptr)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

network::Model pruned_model(const network::Model& parent, const std::string& parent_digest,
                            const Pruner& pruner, const PruneOptions& options, double threshold) {
  const Kept kept = pruner.kept(threshold);
  const std::vector<int> counts = pruner.counts(kept);
  network::Model model = parent;
  model.network = pruner.pruned(kept);
  std::map<std::string, std::string> provenance;
  for (const auto& [key, value] : parent.provenance) {
    // What was measured is true of the weights that were measured.
    const bool figure = key.starts_with("map") || key.starts_with("ap/");
    provenance[figure ? "prune/parent/" + key : key] = value;
  }
  Json filters = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    filters[pruner.map().layers[i].name] = {pruner.map().layers[i].filters, counts[i]};
  }
  provenance["prune/parent_digest"] = parent_digest;
  provenance["prune/threshold"] = fmt::format("{}", threshold);
  provenance["prune/normalizer"] = to_string(options.normalizer);
  provenance["prune/criterion"] = to_string(options.criterion);
  provenance["prune/granularity"] = std::to_string(options.granularity);
  provenance["prune/min_filters"] = std::to_string(options.min_filters);
  provenance["prune/excluded"] = fmt::format("{}", fmt::join(options.excluded, ","));
  provenance["prune/filters"] = filters.dump();
  provenance["prune/parameters"] = Json{parameters_of(parent.network), parameters_of(model.network)}.dump();
  model.provenance = std::move(provenance);
  return model;
}

}  // namespace maskfit::prune
