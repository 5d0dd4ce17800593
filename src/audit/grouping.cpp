#include "audit/grouping.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/disjoint_sets.h"
#include "base/error.h"

namespace maskfit::audit {

std::int64_t group_similar(const Similarity& similar, std::vector<dataset::Sample>* samples) {
  MASKFIT_CHECK(similar.group.size() == samples->size(), "{} groups, {} samples", similar.group.size(),
                samples->size());
  DisjointSets sets(samples->size());
  std::map<std::string, std::uint32_t> named;
  for (std::uint32_t i = 0; i < samples->size(); ++i) {
    sets.join(similar.group[i], i);
    const std::string& name = (*samples)[i].group;
    if (!name.empty()) sets.join(named.emplace(name, i).first->second, i);
  }
  struct Members {
    std::vector<std::uint32_t> all;
    std::string name;
  };
  std::map<std::uint32_t, Members> groups;
  for (std::uint32_t i = 0; i < samples->size(); ++i) {
    Members& members = groups[sets.find(i)];
    members.all.push_back(i);
    const std::string& name = (*samples)[i].group;
    if (!name.empty() && (members.name.empty() || name < members.name)) members.name = name;
  }
  std::int64_t grouped = 0;
  for (const auto& [representative, members] : groups) {
    if (members.all.size() < 2) continue;
    grouped += static_cast<std::int64_t>(members.all.size());
    const std::string name = members.name.empty() ? (*samples)[representative].id : members.name;
    for (const std::uint32_t i : members.all) (*samples)[i].group = name;
  }
  return grouped;
}

std::int64_t join_parted_groups(std::vector<dataset::Sample>* samples) {
  std::map<std::string, std::map<std::string, std::int64_t>> counts;  // group -> split -> samples
  for (const dataset::Sample& sample : *samples) {
    if (!sample.group.empty()) ++counts[sample.group][sample.split];
  }
  std::int64_t moved = 0;
  for (dataset::Sample& sample : *samples) {
    if (sample.group.empty()) continue;
    const auto& splits = counts[sample.group];
    const std::vector<std::string> by_preference = {"train", "val", "test"};
    std::string best;
    std::int64_t most = 0;
    for (const std::string& split : by_preference) {
      const auto found = splits.find(split);
      if (found != splits.end() && found->second >= most) {
        best = split;
        most = found->second;
      }
    }
    if (!best.empty() && sample.split != best) {
      sample.split = best;
      ++moved;
    }
  }
  return moved;
}

std::vector<std::string> strata_of(const std::vector<dataset::Sample>& samples, const Sources& sources) {
  std::vector<std::string> strata;
  strata.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::set<std::string> classes;
    for (const dataset::LabeledBox& box : samples[i].boxes) {
      if (!box.ignore) classes.insert(box.class_name);
    }
    strata.push_back(fmt::format("{}: {}", sources.names[sources.of_sample[i]], fmt::join(classes, "+")));
  }
  return strata;
}

}  // namespace maskfit::audit
