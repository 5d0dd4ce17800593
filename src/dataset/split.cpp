#include "dataset/split.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::dataset {
namespace {

struct Group {
  std::string order;  // a hash: as good as a random place, yet the same whatever else is in the dataset
  std::vector<Sample*> samples;
  std::map<std::string, std::size_t> strata;  // of its samples, with their number
  std::string split;                          // what one of its samples carries already

  const std::string& stratum() const {
    return std::max_element(strata.begin(), strata.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
};

std::map<std::string, Group> groups_of(std::vector<Sample>& samples, const std::vector<std::string>& strata,
                                       std::uint64_t seed) {
  std::map<std::string, Group> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& sample = samples[i];
    // "g" and "i" keep a group's name and an ungrouped sample's id apart.
    Group& group = groups[sample.group.empty() ? "i:" + sample.id : "g:" + sample.group];
    // The least of its samples' hashes: a picture that joins rarely changes it, and the group's name does not
    // matter. Hashed once more below, or large groups would come first.
    const std::string order = base::sha256(fmt::format("{}/i:{}", seed, sample.id));
    if (group.samples.empty() || order < group.order) group.order = order;
    group.samples.push_back(&sample);
    ++group.strata[strata[i]];
    // Of several, the first by name, so that the order of the samples does not matter.
    if (!sample.split.empty() && (group.split.empty() || sample.split < group.split))
      group.split = sample.split;
  }
  for (auto& [key, group] : groups) group.order = base::sha256(group.order);
  return groups;
}

void give(const Group& group, const std::string& split) {
  for (Sample* sample : group.samples) {
    if (sample->split.empty()) sample->split = split;
  }
}

std::size_t size_of(const std::vector<Group*>& groups) {
  std::size_t samples = 0;
  for (const Group* group : groups) samples += group->samples.size();
  return samples;
}

// Takes groups from the front of `open` while that brings their samples nearer to `wanted`; a group that is
// too large is passed over. Returns whether any was taken.
bool take(std::vector<Group*>* open, double wanted, const std::string& split) {
  std::size_t taken = 0;
  std::vector<Group*> left;
  for (Group* group : *open) {
    const double after = static_cast<double>(taken + group->samples.size());
    if (wanted > 0 && std::abs(after - wanted) <= std::abs(static_cast<double>(taken) - wanted)) {
      give(*group, split);
      taken += group->samples.size();
    } else {
      left.push_back(group);
    }
  }
  *open = std::move(left);
  return taken > 0;
}

// -0.5 .. 0.5, from the first 32 bits of a hash.
double rounding_of(const std::string& stratum, const std::string& split, std::uint64_t seed) {
  const std::string hash = base::sha256(fmt::format("{}/{}/{}", seed, split, stratum)).substr(0, 8);
  return static_cast<double>(std::strtoul(hash.c_str(), nullptr, 16)) / 4294967296.0 - 0.5;
}

void check(const DrawOptions& options) {
  const double val = options.val_percent, test = options.test_percent;
  if (!(val >= 0 && val <= 100)) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("{} percent for validation", val), "--val-percent",
                      "give a number from 0 to 100");
  }
  if (!(test >= 0 && val + test <= 100)) {
    throw base::Error(base::ExitCode::kUsage,
                      fmt::format("{} percent for test, {} for validation", test, val), "--test-percent",
                      "give numbers from 0 that are 100 together at most");
  }
}

// A part that would round to nothing gets the smallest group, as long as one is left to train on.
void give_smallest(std::vector<Group*>* open, const std::string& split) {
  if (open->size() < 2) return;
  const auto smallest = std::min_element(open->begin(), open->end(), [](const Group* a, const Group* b) {
    return std::pair(a->samples.size(), a->order) < std::pair(b->samples.size(), b->order);
  });
  give(**smallest, split);
  open->erase(smallest);
}

}  // namespace

void draw_splits(std::vector<Sample>& samples, const std::vector<std::string>& strata,
                 const DrawOptions& options) {
  check(options);
  MASKFIT_CHECK(strata.size() == samples.size(), "{} strata, {} samples", strata.size(), samples.size());
  auto groups = groups_of(samples, strata, options.seed);
  std::map<std::string, std::vector<Group*>> open;
  for (auto& [key, group] : groups) {
    if (group.split.empty()) {
      open[group.stratum()].push_back(&group);
    } else {
      give(group, group.split);
    }
  }
  std::map<std::string, bool> filled;
  std::vector<Group*> rest;
  const std::pair<const char*, double> parts[] = {{"val", options.val_percent},
                                                  {"test", options.test_percent}};
  for (auto& [stratum, members] : open) {
    std::sort(members.begin(), members.end(),
              [](const Group* a, const Group* b) { return a->order < b->order; });
    const auto pictures = static_cast<double>(size_of(members));
    for (const auto& [split, percent] : parts) {
      const double rounding = open.size() > 1 ? rounding_of(stratum, split, options.seed) : 0;
      if (percent > 0) filled[split] |= take(&members, pictures * percent / 100 + rounding, split);
    }
    rest.insert(rest.end(), members.begin(), members.end());
  }
  for (const auto& [split, percent] : parts) {
    if (percent > 0 && !filled[split]) give_smallest(&rest, split);
  }
  std::erase_if(rest, [](const Group* group) { return !group->samples.front()->split.empty(); });
  for (const Group* group : rest) give(*group, "train");
}

void assign_splits(std::vector<Sample>& samples, const SplitOptions& options) {
  draw_splits(samples, std::vector<std::string>(samples.size()), {options.val_percent, 0, options.seed});
}

}  // namespace maskfit::dataset
