#include "cli/data_report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <vector>

namespace maskfit::cli {
namespace {

constexpr std::size_t kShownKinds = 8;  // of each severity

struct SeverityText {
  base::Severity severity;
  const char* text;
};
constexpr SeverityText kSeverities[] = {{base::Severity::kRefused, "refused"},
                                        {base::Severity::kRepaired, "repaired"},
                                        {base::Severity::kWarning, "to look at"}};

}  // namespace

std::string split_table(const dataset::Dataset& dataset) {
  std::string table = fmt::format("{:8}{:>9}", "split", "pictures");
  for (const std::string& name : dataset.class_names) table += fmt::format("  {:>8}", name);
  table += "   ignored  no object\n";
  for (const auto& [split, counts] : dataset::count_by_split(dataset)) {
    table += fmt::format("{:8}{:>9}", split, counts.samples);
    for (const std::string& name : dataset.class_names) {
      const auto found = counts.boxes.find(name);
      table += fmt::format("  {:>{}}", found == counts.boxes.end() ? 0 : found->second,
                           std::max<std::size_t>(8, name.size()));
    }
    table += fmt::format("  {:>8}  {:>9}\n", counts.ignored, counts.without_objects);
  }
  return table;
}

void log_findings(const base::Findings& findings, const std::string& all_in) {
  for (const auto& [severity, text] : kSeverities) {
    // Findings of one kind tell the same remedy, while what was found differs in its numbers.
    std::map<std::string, std::vector<const base::Finding*>> kinds;
    for (const base::Finding& finding : findings) {
      if (finding.severity == severity)
        kinds[finding.remedy.empty() ? finding.what : finding.remedy].push_back(&finding);
    }
    std::size_t shown = 0;
    for (const auto& [kind, alike] : kinds) {
      if (shown++ == kShownKinds) {
        spdlog::warn("{}: {} more kinds{}", text, kinds.size() - kShownKinds,
                     all_in.empty() ? "" : ", see " + all_in);
        break;
      }
      spdlog::warn("{}: {}{}", text, base::to_string(*alike.front()),
                   alike.size() == 1 ? "" : fmt::format("   (and {} alike)", alike.size() - 1));
    }
  }
}

}  // namespace maskfit::cli
