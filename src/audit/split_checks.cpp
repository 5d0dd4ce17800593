// Whether the parts are fit to train and to judge on.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/study.h"

namespace maskfit::audit {
namespace {

constexpr std::int64_t kFewValidated = 50;
constexpr std::int64_t kRare = 200;
constexpr double kImbalance = 5;
// The share of a class differs when it is off by this factor and by more than chance explains.
constexpr double kShareFactor = 1.5, kShareSigmas = 4;

using Counts = std::map<std::string, std::int64_t>;

Counts of_split(const Study& study, const std::string& split) {
  return count_classes(study, [&](std::uint32_t i) { return study.sample(i).split == split; });
}

std::int64_t total(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, n] : counts) sum += n;
  return sum;
}

void check_mixture(const Counts& train, const Counts& val, Issues* issues) {
  const auto train_boxes = static_cast<double>(total(train)), val_boxes = static_cast<double>(total(val));
  if (train_boxes == 0 || val_boxes == 0) return;
  for (const auto& [name, n] : train) {
    const double p = static_cast<double>(n) / train_boxes;
    const double q = static_cast<double>(val.at(name)) / val_boxes;
    const double sigma = std::sqrt(std::max(p * (1 - p), 1e-6) * (1 / train_boxes + 1 / val_boxes));
    const double factor = std::max(p, q) / std::max(std::min(p, q), 1e-9);
    if (factor < kShareFactor || std::abs(p - q) < kShareSigmas * sigma) continue;
    issues->add(Kind::kSplitClasses,
                fmt::format("{}: {:.1f} % of the boxes to train on, {:.1f} % of those to validate on", name,
                            100 * p, 100 * q),
                factor);
  }
}

void check_amounts(const Counts& train, const Counts& val, Issues* issues) {
  std::int64_t most = 0;
  std::string largest;
  for (const auto& [name, n] : train) {
    if (n > most) {
      most = n;
      largest = name;
    }
  }
  for (const auto& [name, n] : train) {
    if (n == 0) {
      issues->add(Kind::kClassNotTrained, name);
      continue;
    }
    if (n < kRare)
      issues->add(Kind::kClassRare, fmt::format("{}: {} boxes", name, n), -static_cast<double>(n));
    const double factor = static_cast<double>(most) / static_cast<double>(n);
    if (factor >= kImbalance) {
      issues->add(
          Kind::kClassImbalance,
          fmt::format("{} has {} boxes, {} has {}: {:.1f} times as many", name, n, largest, most, factor),
          factor);
    }
  }
  if (total(val) == 0) return;
  for (const auto& [name, n] : val) {
    if (n == 0) {
      issues->add(Kind::kClassNotValidated, name);
    } else if (n < kFewValidated) {
      issues->add(Kind::kFewValidated, fmt::format("{}: {} boxes", name, n), -static_cast<double>(n));
    }
  }
}

}  // namespace

void check_splits(const Study& study, Issues* issues) {
  const auto pictures = [&](const std::string& split) {
    return std::count_if(study.data.samples.begin(), study.data.samples.end(),
                         [&](const dataset::Sample& sample) { return sample.split == split; });
  };
  if (pictures("train") == 0) {
    issues->add(Kind::kNoTraining, "no picture has the split \"train\"");
    return;
  }
  if (pictures("val") == 0) issues->add(Kind::kNoValidation, "no picture has the split \"val\"");
  const Counts train = of_split(study, "train"), val = of_split(study, "val");
  check_amounts(train, val, issues);
  check_mixture(train, val, issues);
}

}  // namespace maskfit::audit
