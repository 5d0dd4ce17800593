#include "audit/sources.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::audit {
namespace {

constexpr const char* kOther = "other";
constexpr const char* kAll = "all";
constexpr std::size_t kMaxPrefixes = 12;
constexpr std::size_t kLeastPictures = 10;
constexpr double kLeastShare = 0.02, kLeastCovered = 0.9;

bool is_of_every_dataset(const std::string& folder) {
  static const std::set<std::string> kCommon = {"train",       "training", "trainval", "val",    "valid",
                                                "validation",  "test",     "testing",  "images", "image",
                                                "jpegimages",  "imgs",     "img",      "data",   "dataset",
                                                "annotations", "labels",   "pictures", "photos"};
  return kCommon.count(base::to_lower(folder)) > 0;
}

// "" when no folder tells.
std::string folder_of(const std::string& id) {
  const std::vector<std::string> parts = base::split(id, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (!is_of_every_dataset(parts[i])) return parts[i];
  }
  return "";
}

std::string prefix_of(const std::string& id) {
  const std::size_t slash = id.rfind('/');
  const std::string name = slash == std::string::npos ? id : id.substr(slash + 1);
  const std::size_t mark = name.find_first_of("_- (.");
  if (mark != std::string::npos && mark > 0) return name.substr(0, mark);
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == std::string::npos ? "" : name.substr(0, last + 1);
}

using Names = std::vector<std::string>;  // one a sample

std::map<std::string, std::size_t> count(const Names& names) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : names) ++counts[name];
  return counts;
}

// Renames the rare ones to "other". False when prefixes do not tell sources apart.
bool keep_frequent(Names* names) {
  const auto counts = count(*names);
  std::set<std::string> kept;
  std::size_t covered = 0;
  for (const auto& [name, pictures] : counts) {
    const bool frequent = pictures >= kLeastPictures &&
                          static_cast<double>(pictures) >= kLeastShare * static_cast<double>(names->size());
    if (name.empty() || !frequent) continue;
    kept.insert(name);
    covered += pictures;
  }
  if (kept.size() < 2 || kept.size() > kMaxPrefixes ||
      static_cast<double>(covered) < kLeastCovered * static_cast<double>(names->size())) {
    return false;
  }
  for (std::string& name : *names) {
    if (kept.count(name) == 0) name = kOther;
  }
  return true;
}

Sources numbered(const Names& names, std::string decision) {
  Sources sources;
  sources.decision = std::move(decision);
  std::map<std::string, int> index;
  for (const std::string& name : names) index[name] = 0;
  for (auto& [name, i] : index) {
    i = static_cast<int>(sources.names.size());
    sources.names.push_back(name);
  }
  for (const std::string& name : names) sources.of_sample.push_back(index[name]);
  return sources;
}

}  // namespace

SourceRule source_rule_from_name(const std::string& name) {
  if (name == "auto") return SourceRule::kAuto;
  if (name == "folder") return SourceRule::kFolder;
  if (name == "prefix") return SourceRule::kPrefix;
  if (name == "none") return SourceRule::kNone;
  throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is no way to tell sources apart", name),
                    "--by-source", "say auto, folder, prefix or none");
}

Sources find_sources(const std::vector<dataset::Sample>& samples, SourceRule rule) {
  Names folders, prefixes;
  for (const dataset::Sample& sample : samples) {
    const std::string folder = folder_of(sample.id);
    folders.push_back(folder.empty() ? kOther : folder);
    prefixes.push_back(prefix_of(sample.id));
  }
  if (rule == SourceRule::kFolder || (rule == SourceRule::kAuto && count(folders).size() > 1))
    return numbered(folders, "a source is a folder of the ids");
  if (rule == SourceRule::kPrefix) {
    std::replace(prefixes.begin(), prefixes.end(), std::string(), std::string(kOther));
    return numbered(prefixes, "a source is a prefix of the names");
  }
  if (rule == SourceRule::kAuto && keep_frequent(&prefixes))
    return numbered(prefixes, "a source is a prefix of the names");
  return numbered(Names(samples.size(), kAll), "all pictures count as one source");
}

}  // namespace maskfit::audit
