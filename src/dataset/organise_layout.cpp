#include "dataset/organise_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dataset/organise_sets.h"

namespace maskfit::dataset {
namespace {

void choose_best(Layout& layout, OrganiseReport* report) {
  std::map<std::string, const std::string*> lower;
  for (auto& [target, candidates] : layout) {
    std::stable_sort(candidates.begin(), candidates.end(), [](const FoundFile* a, const FoundFile* b) {
      if (a->size != b->size) return a->size > b->size;
      return a->inside.empty() && !b->inside.empty();
    });
    ++report->chosen;
    report->duplicates += candidates.size() - 1;
    const auto [other, is_new] = lower.emplace(base::to_lower(target), &target);
    if (!is_new) {
      report->findings.push_back(
          {base::Severity::kWarning, candidates.front()->path, 0, "",
           fmt::format("its name differs from '{}' in upper and lower case only", *other->second),
           "both are kept; Windows and macOS can only hold one of them"});
    }
  }
}

}  // namespace

Layout lay_out(const std::vector<FoundFile>& found, OrganiseReport* report) {
  Layout layout;
  PictureUse used(found);
  lay_out_mafa(used, layout, report);
  lay_out_fddb(used, layout, report);
  lay_out_wider(used, layout, report);
  lay_out_kaggle(used, layout, report);
  report->others += used.unused();
  choose_best(layout, report);
  // The order of the sets in the table is the one of `data get --list`.
  std::stable_sort(report->parts.begin(), report->parts.end(), [](const PartStatus& a, const PartStatus& b) {
    return set_rank(a.set) < set_rank(b.set);
  });
  return layout;
}

}  // namespace maskfit::dataset
