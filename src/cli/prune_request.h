#pragma once

// What `maskfit prune` is asked for, in its user's words.

#include <optional>
#include <string>

namespace maskfit::cli {

// How small the network is to become. Exactly one member is set.
struct PruneGoal {
  std::optional<double> threshold;            // 0 or more
  std::optional<double> parameters, macs;     // share of the unpruned network that may stay, 0..1
  std::optional<double> pictures_per_second;  // at least so many
};

// The words behind --threshold, --keep-params, --keep-macs and --latency; empty: not given. A share is "12%"
// or "0.12", a latency "8ms" or "120img/s". Throws base::Error (kUsage) naming the option for words that
// cannot be read, are out of range or are not exactly one.
PruneGoal prune_goal(const std::string& threshold, const std::string& parameters, const std::string& macs,
                     const std::string& latency);

}  // namespace maskfit::cli
