#include "audit/audit.h"

#include <algorithm>

#include "audit/study.h"
#include "base/error.h"
#include "base/files.h"
#include "image/reduced.h"

namespace maskfit::audit {
namespace {

std::vector<std::filesystem::path> paths_of(const dataset::Dataset& data) {
  std::vector<std::filesystem::path> paths;
  paths.reserve(data.samples.size());
  for (const dataset::Sample& sample : data.samples) paths.push_back(data.image_path(sample));
  return paths;
}

}  // namespace

std::int64_t Audit::count(Level level) const {
  return std::count_if(issues.begin(), issues.end(),
                       [level](const Issue& issue) { return issue.level == level; });
}

std::vector<Issue> Issues::take() {
  std::vector<Issue> issues;
  for (const KindInfo& entry : all_kinds()) {
    const auto found = examples_.find(entry.kind);
    if (found == examples_.end()) continue;
    const bool soft = entry.level == Level::kError && softened_.count(entry.kind) > 0;
    Issue issue{entry.kind, soft ? Level::kWarning : entry.level, std::move(found->second)};
    std::stable_sort(issue.examples.begin(), issue.examples.end(),
                     [](const Example& a, const Example& b) { return a.rank > b.rank; });
    issues.push_back(std::move(issue));
  }
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& a, const Issue& b) { return a.level < b.level; });
  return issues;
}

std::map<std::string, std::int64_t> count_classes(const Study& study,
                                                  const std::function<bool(std::uint32_t)>& chosen) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& name : study.data.class_names) counts[name] = 0;
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    if (!chosen(i)) continue;
    for (const dataset::LabeledBox& box : study.sample(i).boxes) {
      if (!box.ignore) ++counts[box.class_name];
    }
  }
  return counts;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Audit audit(const dataset::Dataset& data, const AuditOptions& options) {
  Audit result;
  result.network = options.network;
  dataset::FactsOptions facts_options{options.cache, options.threads, options.stop, {}};
  if (options.progress) {
    facts_options.progress = [&](std::int64_t done, std::int64_t total) {
      options.progress("reading pictures", done, total);
    };
  }
  dataset::FactsResult facts = dataset::collect_facts(paths_of(data), facts_options);
  result.facts = std::move(facts.facts);
  result.decoded = facts.decoded;
  result.from_cache = facts.from_cache;
  result.sources = find_sources(data.samples, options.sources);

  std::vector<std::string> ids;
  ids.reserve(data.samples.size());
  for (const dataset::Sample& sample : data.samples) ids.push_back(sample.id);
  SimilarOptions similar = options.similar;
  similar.threads = options.threads;
  similar.stop = options.stop;
  const auto read = [&](std::uint32_t i, int least_side) {
    const auto path = data.image_path(data.samples[i]);
    const std::string bytes = base::read_file(path);
    return least_side > 0 ? image::decode_reduced(bytes, path.string(), least_side)
                          : image::decode_image(bytes, path.string());
  };
  if (options.progress) options.progress("comparing pictures", 0, static_cast<std::int64_t>(ids.size()));
  result.similar = find_similar(ids, result.facts, read, similar);

  const Study study{data, options, result.facts, result.similar, result.sources};
  Issues issues;
  check_pictures(study, &issues);
  check_labels(study, &issues);
  check_similar(study, &issues);
  check_splits(study, &issues);
  check_sources(study, &issues);
  check_network(study, &issues);
  if (options.detect) check_with_model(study, &issues);
  result.issues = issues.take();
  return result;
}

}  // namespace maskfit::audit
