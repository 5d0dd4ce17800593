#pragma once

// Where pictures come from, read off their ids: sets that were collected and labelled by different people
// usually lie in folders of their own, or carry a prefix.

#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace maskfit::audit {

enum class SourceRule { kAuto, kFolder, kPrefix, kNone };

// "auto", "folder", "prefix", "none"; throws base::Error (kUsage) naming the choices.
SourceRule source_rule_from_name(const std::string& name);

struct Sources {
  std::vector<std::string> names;  // sorted; one at least unless there are no samples
  std::vector<int> of_sample;      // index into names
  std::string decision;            // how they were told apart, one sentence
};

// kFolder: the first folder of the id that is not one of every dataset ("train", "val", "images", ...).
// kPrefix: the name up to its first "_", "-", " ", "(" or ".", or without the digits at its end.
// kAuto: the folder where that tells several sources apart; else the prefix where there are 2 to 12 of them,
// each with at least ten pictures and two per cent, that cover nine tenths; the rest is then called "other".
// Else one source, "all".
Sources find_sources(const std::vector<dataset::Sample>& samples, SourceRule rule);

}  // namespace maskfit::audit
