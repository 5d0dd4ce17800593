#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "dataset/dataset.h"

namespace maskfit::dataset {
namespace {

struct Group {
  std::string order;  // a hash: as good as a random place, yet the same whatever else is in the dataset
  std::vector<Sample*> samples;
  std::string split;  // what one of its samples carries already
};

std::map<std::string, Group> groups_of(std::vector<Sample>& samples, std::uint64_t seed) {
  std::map<std::string, Group> groups;
  for (Sample& sample : samples) {
    // "g" and "i" keep a group's name and an ungrouped sample's id apart.
    const std::string key = sample.group.empty() ? "i:" + sample.id : "g:" + sample.group;
    Group& group = groups[key];
    if (group.samples.empty()) group.order = base::sha256(fmt::format("{}/{}", seed, key));
    group.samples.push_back(&sample);
    // Of several, the first by name, so that the order of the samples does not matter.
    if (!sample.split.empty() && (group.split.empty() || sample.split < group.split))
      group.split = sample.split;
  }
  return groups;
}

void give(Group& group, const std::string& split) {
  for (Sample* sample : group.samples) {
    if (sample->split.empty()) sample->split = split;
  }
}

}  // namespace

void assign_splits(std::vector<Sample>& samples, const SplitOptions& options) {
  if (!(options.val_percent >= 0 && options.val_percent <= 100)) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("{} percent for validation", options.val_percent),
                      "--val-percent", "give a number from 0 to 100");
  }
  auto groups = groups_of(samples, options.seed);
  std::vector<Group*> open;
  std::size_t open_samples = 0;
  for (auto& [key, group] : groups) {
    if (!group.split.empty()) {
      give(group, group.split);
    } else {
      open.push_back(&group);
      open_samples += group.samples.size();
    }
  }
  std::sort(open.begin(), open.end(), [](const Group* a, const Group* b) { return a->order < b->order; });

  const double wanted = static_cast<double>(open_samples) * options.val_percent / 100;
  std::size_t taken = 0;
  std::vector<Group*> train;
  for (Group* group : open) {
    // Take the group when that brings the count nearer to what is wanted.
    const double after = static_cast<double>(taken + group->samples.size());
    if (std::abs(after - wanted) <= std::abs(static_cast<double>(taken) - wanted) && wanted > 0) {
      give(*group, "val");
      taken += group->samples.size();
    } else {
      train.push_back(group);
    }
  }
  if (taken == 0 && wanted > 0 && train.size() > 1) {
    const auto smallest = std::min_element(train.begin(), train.end(), [](const Group* a, const Group* b) {
      return a->samples.size() < b->samples.size();
    });
    give(**smallest, "val");
    train.erase(smallest);
  }
  for (Group* group : train) give(*group, "train");
}

}  // namespace maskfit::dataset
