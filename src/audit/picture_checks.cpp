// Faults of the picture files themselves.

#include <fmt/ranges.h>

#include <algorithm>

#include "audit/study.h"

namespace maskfit::audit {
namespace {

constexpr int kTinySide = 64;       // pixels of the shorter side
constexpr double kElongated = 3;    // longer side over shorter side
constexpr double kUniform = 4;      // standard deviation of the grey values
constexpr double kColourSet = 0.5;  // grey pictures are worth a word where so many have colour

Example about(std::uint32_t sample, std::string text, double rank = 0) {
  Example example;
  example.samples = {sample};
  example.text = std::move(text);
  example.rank = rank;
  return example;
}

Example to_drop(std::uint32_t sample, std::string text) {
  Example example = about(sample, std::move(text));
  example.repair = {Repair::Action::kDropSample, sample, 0};
  return example;
}

void check_shape(std::uint32_t i, const PictureFacts& facts, Issues* issues) {
  const int shorter = std::min(facts.upright.width, facts.upright.height),
            longer = std::max(facts.upright.width, facts.upright.height);
  const std::string size = fmt::format("{} x {} pixels", facts.upright.width, facts.upright.height);
  if (shorter < kTinySide) issues->add(Kind::kPictureTiny, about(i, size, -shorter));
  const double elongation = static_cast<double>(longer) / shorter;
  if (elongation >= kElongated) issues->add(Kind::kPictureElongated, about(i, size, elongation));
}

}  // namespace

void check_pictures(const Study& study, Issues* issues) {
  std::vector<std::uint32_t> grey;
  std::uint32_t usable = 0;
  for (std::uint32_t i = 0; i < study.size(); ++i) {
    const PictureFacts& facts = study.facts[i];
    const dataset::Sample& sample = study.sample(i);
    if (facts.stamp.bytes < 0) {
      issues->add(Kind::kPictureMissing,
                  to_drop(i, study.data.image_path(sample).string() + " is not there"));
      continue;
    }
    if (!facts.usable()) {
      issues->add(Kind::kPictureUnreadable, to_drop(i, facts.error));
      continue;
    }
    ++usable;
    if (facts.upright.width != sample.width || facts.upright.height != sample.height) {
      issues->add(Kind::kPictureSizeDiffers,
                  about(i, fmt::format("{} x {} pixels, the dataset says {} x {}", facts.upright.width,
                                       facts.upright.height, sample.width, sample.height)));
    }
    check_shape(i, facts, issues);
    if (dataset::contrast(facts.print) < kUniform) {
      issues->add(Kind::kPictureUniform,
                  about(i, fmt::format("grey values vary by {:.1f} of 255", dataset::contrast(facts.print))));
    }
    if (facts.orientation != 1) {
      issues->add(Kind::kPictureTurned, about(i, fmt::format("EXIF orientation {}", facts.orientation)));
    } else if (!facts.notes.empty()) {
      issues->add(Kind::kPictureMended, about(i, fmt::format("{}", fmt::join(facts.notes, "; "))));
    }
    if (facts.grey) grey.push_back(i);
  }
  if (usable > 0 && static_cast<double>(grey.size()) < kColourSet * usable) {
    for (const std::uint32_t i : grey) issues->add(Kind::kPictureGrey, about(i, "no colour"));
  }
}

}  // namespace maskfit::audit
