// What sources have in common, and what they have not.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "audit/study.h"

namespace maskfit::audit {
namespace {

constexpr std::int64_t kLeastBoxes = 30;  // of a source, before anything is concluded from it
constexpr std::int64_t kLeastPictures = 10;
constexpr double kTellsClass = 0.95;   // share of one class in a source
constexpr double kStyleFactor = 1.15;  // of the median ratio of height to width

struct SourceFacts {
  std::int64_t pictures = 0, boxes = 0;
  std::set<std::string> splits;
  std::map<std::string, std::int64_t> classes;
  std::vector<double> shapes;  // height / width of each box
};

std::vector<SourceFacts> facts_of(const Study& study) {
  std::vector<SourceFacts> all(study.sources.names.size());
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    SourceFacts& facts = all[study.sources.of_sample[i]];
    ++facts.pictures;
    facts.splits.insert(study.sample(i).split);
    for (const dataset::LabeledBox& box : study.sample(i).boxes) {
      if (box.ignore || box.box_in_image.area() <= 0) continue;
      ++facts.boxes;
      ++facts.classes[box.class_name];
      facts.shapes.push_back(box.box_in_image.height() / box.box_in_image.width());
    }
  }
  return all;
}

void check_classes(const Study& study, const std::string& source, const SourceFacts& facts, Issues* issues) {
  if (facts.boxes < kLeastBoxes) return;
  std::int64_t all_boxes = 0;
  const auto all = count_classes(study, [](std::uint32_t) { return true; });
  for (const auto& [name, n] : all) all_boxes += n;
  for (const auto& [name, n] : all) {
    const auto here = facts.classes.find(name);
    const std::int64_t found = here == facts.classes.end() ? 0 : here->second;
    if (n > 0 && found == 0) {
      issues->add(Kind::kSourceLacksClass,
                  fmt::format("{} has {} boxes, none of them {}", source, facts.boxes, name),
                  static_cast<double>(facts.boxes));
    }
    const double share = static_cast<double>(found) / static_cast<double>(facts.boxes);
    const double usual = static_cast<double>(n) / static_cast<double>(all_boxes);
    if (share >= kTellsClass && usual < kTellsClass) {
      issues->add(Kind::kSourceTellsClass,
                  fmt::format("{:.1f} % of the boxes of {} are {}, {:.1f} % of all", 100 * share, source,
                              name, 100 * usual),
                  share);
    }
  }
}

// Each source's shape of boxes against that of all the others together.
void check_style(const std::vector<std::string>& names, const std::vector<SourceFacts>& all, Issues* issues) {
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::vector<double> others;
    for (std::size_t o = 0; o < all.size(); ++o) {
      if (o != s) others.insert(others.end(), all[o].shapes.begin(), all[o].shapes.end());
    }
    if (all[s].boxes < kLeastBoxes || static_cast<std::int64_t>(others.size()) < kLeastBoxes) continue;
    const double mine = median(all[s].shapes), theirs = median(others);
    const double factor = std::max(mine, theirs) / std::min(mine, theirs);
    if (factor < kStyleFactor) continue;
    issues->add(
        Kind::kSourceBoxStyle,
        fmt::format("boxes of {} are {:.2f} times as high as wide (median), those of the others {:.2f}",
                    names[s], mine, theirs),
        factor);
  }
}

}  // namespace

void check_sources(const Study& study, Issues* issues) {
  if (study.sources.names.size() < 2) return;
  const std::vector<SourceFacts> all = facts_of(study);
  std::set<std::string> splits;
  for (const dataset::Sample& sample : study.data.samples) splits.insert(sample.split);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::string& source = study.sources.names[s];
    if (splits.size() > 1 && all[s].splits.size() == 1 && all[s].pictures >= kLeastPictures) {
      issues->add(
          Kind::kSourceOneSplit,
          fmt::format("all {} pictures of {} are in {}", all[s].pictures, source, *all[s].splits.begin()),
          static_cast<double>(all[s].pictures));
    }
    check_classes(study, source, all[s], issues);
  }
  check_style(study.sources.names, all, issues);
}

}  // namespace maskfit::audit
