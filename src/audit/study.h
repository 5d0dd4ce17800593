#pragma once

// What the checks look at and write to. Private to this folder.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit.h"

namespace maskfit::audit {

struct Study {
  const dataset::Dataset& data;
  const AuditOptions& options;
  const std::vector<PictureFacts>& facts;
  const Similarity& similar;
  const Sources& sources;

  const dataset::Sample& sample(std::uint32_t i) const { return data.samples[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(data.samples.size()); }
  const std::string& source_of(std::uint32_t i) const { return sources.names[sources.of_sample[i]]; }
};

class Issues {
 public:
  void add(Kind kind, Example example) { examples_[kind].push_back(std::move(example)); }
  // About the dataset as a whole.
  void add(Kind kind, std::string text, double rank = 0) {
    Example example;
    example.text = std::move(text);
    example.rank = rank;
    add(kind, std::move(example));
  }
  // An error of this kind only warns this time.
  void soften(Kind kind) { softened_.insert(kind); }
  std::vector<Issue> take();

 private:
  std::set<Kind> softened_;
  std::map<Kind, std::vector<Example>> examples_;
};

void check_pictures(const Study& study, Issues* issues);
void check_labels(const Study& study, Issues* issues);
void check_similar(const Study& study, Issues* issues);
void check_splits(const Study& study, Issues* issues);
void check_sources(const Study& study, Issues* issues);
void check_network(const Study& study, Issues* issues);
void check_with_model(const Study& study, Issues* issues);

// Boxes that are objects, by class, of the samples that `chosen` takes; every class of the dataset is there.
std::map<std::string, std::int64_t> count_classes(const Study& study,
                                                  const std::function<bool(std::uint32_t)>& chosen);
double median(std::vector<double> values);  // 0 of none

}  // namespace maskfit::audit
