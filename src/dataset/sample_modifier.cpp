#include "dataset/sample_modifier.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

void SampleModifier::check() const {
  for (const auto& [field, names] : {std::pair{"filter_samples_containing_only", &filter_only},
                                     std::pair{"dominant_target_classes", &dominant}}) {
    for (const std::string& name : *names) {
      const bool known = std::any_of(target_of.begin(), target_of.end(),
                                     [&](const auto& entry) { return entry.second == name; });
      if (known) continue;
      throw base::Error(base::ExitCode::kRefused, fmt::format("'{}' is the target of no class", name),
                        std::string("sample_modifier_config.") + field,
                        "name values of source_to_target_class_mapping");
    }
  }
}

int SampleModifier::copies(const std::vector<std::string>& classes) const {
  std::map<std::string, std::string> any_case;
  for (const auto& [source, target] : target_of) any_case.emplace(base::to_lower(source), target);
  std::map<std::string, int> counts;
  for (const std::string& name : classes) {
    const auto target = any_case.find(base::to_lower(name));
    if (target != any_case.end()) ++counts[target->second];
  }
  if (counts.size() == 1 && contains(filter_only, counts.begin()->first)) return 0;
  for (const auto& [rare, rare_count] : counts) {
    if (contains(dominant, rare)) continue;
    const auto factor = min_imbalance.find(rare);
    for (const std::string& frequent : dominant) {
      const auto found = counts.find(frequent);
      const int frequent_count = found == counts.end() ? 0 : found->second;
      if (static_cast<float>(rare_count) >
          static_cast<float>(frequent_count) * (factor == min_imbalance.end() ? 1.0f : factor->second)) {
        return 1 + num_duplicates;
      }
    }
  }
  return 1;
}

std::optional<std::int64_t> SampleModifier::cap(int num_folds, bool one_validates) const {
  if (max_training_samples <= 0) return std::nullopt;
  const int training = std::max(1, one_validates ? num_folds - 1 : num_folds);
  return max_training_samples / training;
}

}  // namespace maskfit::dataset
