#include "targets/label_classes.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::targets {
namespace {

std::optional<std::string> mapped(const std::string& name, const ClassMapping& mapping) {
  if (mapping.empty()) return name;
  const auto entry = mapping.find(name);
  if (entry == mapping.end()) return std::nullopt;
  return entry->second;
}

}  // namespace

std::optional<int> drawn_class(const std::string& source_class, const ClassMapping& mapping,
                               std::span<const std::string> class_names, bool reference_exact) {
  std::optional<std::string> target = mapped(source_class, mapping);
  if (target && reference_exact) target = mapped(*target, mapping);
  if (!target) return std::nullopt;
  const auto place = std::find(class_names.begin(), class_names.end(), *target);
  if (place != class_names.end()) return static_cast<int>(place - class_names.begin());
  if (mapping.empty()) return std::nullopt;
  const std::string near = base::nearest_name(*target, {class_names.begin(), class_names.end()});
  throw base::Error(
      base::ExitCode::kRefused,
      fmt::format("class '{}' is mapped to '{}', which is not a target class", source_class, *target),
      "dataset_config.target_class_mapping",
      near.empty() ? "name it in cost_function_config.target_classes or remove the mapping"
                   : fmt::format("did you mean '{}'?", near));
}

}  // namespace maskfit::targets
