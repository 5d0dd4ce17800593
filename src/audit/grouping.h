#pragma once

// Similar pictures as groups of a dataset, which no split parts.

#include <string>
#include <vector>

#include "audit/similar.h"
#include "audit/sources.h"
#include "dataset/dataset.h"

namespace maskfit::audit {

// Gives samples that belong together, by likeness or by the groups that they carry, one group: the first name
// that one of them carries, else the first id among them. Returns how many samples are in a group of several.
std::int64_t group_similar(const Similarity& similar, std::vector<dataset::Sample>* samples);

// Brings each group that lies in several splits together, where most of its samples are; of two that have as
// many, where training does not see it. Returns how many samples moved.
std::int64_t join_parted_groups(std::vector<dataset::Sample>* samples);

// What a split has to keep in proportion: a sample's source and the classes on it.
std::vector<std::string> strata_of(const std::vector<dataset::Sample>& samples, const Sources& sources);

}  // namespace maskfit::audit
