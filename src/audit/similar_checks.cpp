// Copies and near copies: of one another, across splits, across sources, and with other labels.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/paired_labels.h"
#include "audit/study.h"

namespace maskfit::audit {
namespace {

bool is_same(const SimilarPair& pair) {
  return pair.likeness == Likeness::kSameFile || pair.likeness == Likeness::kSamePixels;
}

std::string text_of(const SimilarPair& pair) {
  switch (pair.likeness) {
    case Likeness::kSameFile:
      return "the same file";
    case Likeness::kSamePixels:
      return "every pixel is the same";
    case Likeness::kMirrored:
      return fmt::format("mirrored, alike to {:.1f} %", 100 * pair.correlation);
    case Likeness::kCropped:
      return fmt::format("one shows {:.0f} % of the other{}, alike to {:.1f} %",
                         100 * pair.part_of_whole.area(), pair.mirrored ? ", mirrored" : "",
                         100 * pair.correlation);
    case Likeness::kNear:
      break;
  }
  return fmt::format("alike to {:.1f} %", 100 * pair.correlation);
}

Example example_of(const Study& study, const SimilarPair& pair) {
  Example example;
  example.samples = {pair.a, pair.b};
  example.text =
      fmt::format("{} ({}, {})", text_of(pair), study.sample(pair.a).split, study.sample(pair.b).split);
  example.rank = pair.correlation;
  return example;
}

void check_labels_of(const Study& study, const SimilarPair& pair, Issues* issues) {
  // A part may lack what the whole shows.
  if (pair.likeness == Likeness::kCropped) return;
  const std::string difference =
      label_difference(study.sample(pair.a), study.sample(pair.b), pair.likeness == Likeness::kMirrored);
  if (difference.empty()) return;
  Example example = example_of(study, pair);
  example.text += ": " + difference;
  issues->add(is_same(pair) ? Kind::kLabelsContradict : Kind::kLabelsDiffer, std::move(example));
}

// The copy to take out: the one in the training part, else the later one; only when the labels agree.
void offer_drop(const Study& study, const SimilarPair& pair, Example* example) {
  if (!is_same(pair) || !label_difference(study.sample(pair.a), study.sample(pair.b), false).empty()) return;
  const bool first = study.sample(pair.a).split == "train" && study.sample(pair.b).split != "train";
  example->repair = {Repair::Action::kDropSample, first ? pair.a : pair.b, 0};
}

// The pairs that differ in place across splits may be hidden behind one that does not: A and B in training, C
// in validation, listed as A-B and B-C. Nothing is lost, as every pair that joins is listed.
void check_pair(const Study& study, const SimilarPair& pair, Issues* issues) {
  Example example = example_of(study, pair);
  offer_drop(study, pair, &example);
  const bool parted = study.sample(pair.a).split != study.sample(pair.b).split;
  const Kind kind = parted && is_same(pair) ? Kind::kLeakSame
                    : parted                ? Kind::kLeakNear
                    : is_same(pair)         ? Kind::kDuplicateSame
                                            : Kind::kDuplicateNear;
  issues->add(kind, example);
  if (study.source_of(pair.a) != study.source_of(pair.b)) {
    example.repair = {};
    example.text =
        fmt::format("{}: {} and {}", text_of(pair), study.source_of(pair.a), study.source_of(pair.b));
    issues->add(Kind::kSourceOverlap, std::move(example));
  }
  check_labels_of(study, pair, issues);
}

void check_sequence(const Study& study, const Sequence& sequence, Issues* issues) {
  std::set<std::string> splits;
  for (const std::uint32_t frame : sequence.frames) splits.insert(study.sample(frame).split);
  Example example;
  example.samples = sequence.frames;
  example.rank = static_cast<double>(sequence.frames.size());
  example.text =
      fmt::format("{} frames, {} to {}", sequence.frames.size(), study.sample(sequence.frames.front()).id,
                  study.sample(sequence.frames.back()).id);
  if (splits.size() > 1) issues->add(Kind::kSequenceParted, example);
  issues->add(Kind::kSequence, std::move(example));
}

// Boxes of the same faces from two sources: the area of the first over the area of the second.
void check_shared_style(const Study& study, Issues* issues) {
  constexpr double kRatio = 1.2;
  constexpr std::size_t kLeastBoxes = 5;
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const SimilarPair& pair : study.similar.pairs) {
    const std::string &a = study.source_of(pair.a), &b = study.source_of(pair.b);
    if (a == b || pair.likeness == Likeness::kCropped) continue;
    for (double ratio :
         area_ratios(study.sample(pair.a), study.sample(pair.b), pair.likeness == Likeness::kMirrored)) {
      ratios[std::minmax(a, b)].push_back(a < b ? ratio : 1 / ratio);
    }
  }
  for (const auto& [sources, values] : ratios) {
    const double ratio = median(values);
    if (values.size() < kLeastBoxes || std::max(ratio, 1 / ratio) < kRatio) continue;
    issues->add(Kind::kSharedBoxStyle,
                fmt::format("boxes of {} have {:.2f} times the area of those of {} around the same {} faces",
                            sources.first, ratio, sources.second, values.size()),
                std::max(ratio, 1 / ratio));
  }
}

// A leak of a handful of pictures does not spoil a figure: it warns.
void soften_few_leaks(const Study& study, Issues* issues) {
  constexpr double kSpoiling = 0.01;  // of the pictures that are held out
  std::set<std::uint32_t> leaked;
  for (const SimilarPair& pair : study.similar.pairs) {
    if (study.sample(pair.a).split == study.sample(pair.b).split) continue;
    for (const std::uint32_t i : {pair.a, pair.b}) {
      if (study.sample(i).split != "train") leaked.insert(i);
    }
  }
  const auto held_out = std::count_if(study.data.samples.begin(), study.data.samples.end(),
                                      [](const dataset::Sample& sample) { return sample.split != "train"; });
  if (static_cast<double>(leaked.size()) >= kSpoiling * static_cast<double>(held_out)) return;
  issues->soften(Kind::kLeakSame);
  issues->soften(Kind::kLeakNear);
}

}  // namespace

void check_similar(const Study& study, Issues* issues) {
  // Frames of one sequence are alike by nature: told once, as a sequence.
  std::map<std::uint32_t, std::size_t> sequence_of;
  for (std::size_t s = 0; s < study.similar.sequences.size(); ++s) {
    check_sequence(study, study.similar.sequences[s], issues);
    for (const std::uint32_t frame : study.similar.sequences[s].frames) sequence_of[frame] = s;
  }
  for (const SimilarPair& pair : study.similar.pairs) {
    const auto a = sequence_of.find(pair.a), b = sequence_of.find(pair.b);
    const bool one_sequence = a != sequence_of.end() && b != sequence_of.end() && a->second == b->second;
    if (!one_sequence || is_same(pair)) check_pair(study, pair, issues);
  }
  check_shared_style(study, issues);
  soften_few_leaks(study, issues);
}

}  // namespace maskfit::audit
