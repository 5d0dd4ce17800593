#include "export/calibrate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"

namespace maskfit::exporting {
namespace {

using base::Error;
using base::ExitCode;

constexpr std::size_t kLevels = 128;
constexpr double kPercentile = 0.9999;

struct MethodRow {
  CalibrationMethod method;
  const char* name;
};
constexpr MethodRow kMethods[] = {{CalibrationMethod::kEntropy, "entropy"},
                                  {CalibrationMethod::kPercentile, "percentile"},
                                  {CalibrationMethod::kMinMax, "minmax"}};

// Sums over the first bins, so that a candidate costs as many steps as it has levels, not bins.
class BinSums {
 public:
  explicit BinSums(const std::vector<std::int64_t>& counts) {
    for (const std::int64_t count : counts) {
      const auto mass = static_cast<double>(count);
      mass_.push_back(mass_.back() + mass);
      entropy_.push_back(entropy_.back() + (count > 0 ? mass * std::log(mass) : 0));
      filled_.push_back(filled_.back() + (count > 0 ? 1 : 0));
    }
  }

  // Kullback-Leibler divergence between the first `cut` bins, everything above piled on the last, and the
  // same bins in kLevels steps. Bins that are empty stay empty in both.
  double divergence(std::size_t cut) const {
    const double total = mass_.back(), inside = mass_[cut], above = total - inside;
    if (!(inside > 0)) return INFINITY;
    double sum = 0, spread = 0;
    for (std::size_t level = 0; level < kLevels; ++level) {
      const std::size_t begin = cut * level / kLevels, end = cut * (level + 1) / kLevels;
      const double mass = mass_[end] - mass_[begin];
      if (!(mass > 0)) continue;
      spread = mass / (filled_[end] - filled_[begin]) / inside;
      // sum of p log(p / spread) with p = bin / total
      sum += (entropy_[end] - entropy_[begin] - mass * std::log(total * spread)) / total;
    }
    if (!(above > 0)) return sum;
    const double last = mass_[cut] - mass_[cut - 1];
    // The pile on an empty last bin has no counterpart at all: as bad as losing it.
    if (!(last > 0)) return sum + above / total * std::log(1e6 * above / total + 1);
    const auto part = [&](double mass) { return mass / total * std::log(mass / total / spread); };
    return sum - part(last) + part(last + above);
  }

 private:
  std::vector<double> mass_ = {0}, entropy_ = {0}, filled_ = {0};
};

}  // namespace

CalibrationMethod calibration_method_from_name(const std::string& name) {
  for (const MethodRow& row : kMethods) {
    if (name == row.name) return row.method;
  }
  throw Error(ExitCode::kUsage, fmt::format("unknown calibration method '{}'", name), "--calibration",
              "use entropy, percentile or minmax");
}

const char* name_of(CalibrationMethod method) {
  for (const MethodRow& row : kMethods) {
    if (row.method == method) return row.name;
  }
  MASKFIT_CHECK(false, "method={}", static_cast<int>(method));
}

void MagnitudeHistogram::widen_to(float magnitude) {
  while (std::ldexp(1.0f, exponent_) <= magnitude) {
    for (std::size_t i = 0; i < kBins / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kBins / 2, counts_.end(), 0);
    ++exponent_;
  }
}

void MagnitudeHistogram::add(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    const float magnitude = std::fabs(value);
    finite_ = finite_ && std::isfinite(magnitude);
    largest = magnitude > largest ? magnitude : largest;
  }
  if (!finite_) return;
  largest_ = std::max(largest_, largest);
  widen_to(largest);
  const float per_bin = std::ldexp(static_cast<float>(kBins), -exponent_);  // exact: both are powers of two
  for (const float value : values) {
    if (value == 0) continue;
    ++counts_[static_cast<std::size_t>(std::fabs(value) * per_bin)];
    ++total_;
  }
}

void MagnitudeHistogram::merge(const MagnitudeHistogram& other) {
  finite_ = finite_ && other.finite_;
  if (!finite_) return;
  MagnitudeHistogram theirs = other;
  const float largest = std::max(largest_, other.largest_);
  widen_to(largest);
  theirs.widen_to(largest);
  while (theirs.exponent_ < exponent_) theirs.widen_to(std::ldexp(1.0f, theirs.exponent_));
  while (exponent_ < theirs.exponent_) widen_to(std::ldexp(1.0f, exponent_));
  for (std::size_t i = 0; i < kBins; ++i) counts_[i] += theirs.counts_[i];
  total_ += theirs.total_;
  largest_ = largest;
}

float MagnitudeHistogram::percentile_range(double share) const {
  const double wanted = share * static_cast<double>(total_);
  double seen = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    seen += static_cast<double>(counts_[i]);
    if (seen >= wanted) return std::min(largest_, std::ldexp(static_cast<float>(i + 1) / kBins, exponent_));
  }
  return largest_;
}

float MagnitudeHistogram::entropy_range() const {
  const BinSums sums(counts_);
  std::size_t used = kBins;
  while (used > kLevels && counts_[used - 1] == 0) --used;
  double best = INFINITY;
  std::size_t best_cut = used;
  for (std::size_t cut = used; cut >= kLevels; --cut) {
    const double d = sums.divergence(cut);
    if (!(d < best)) continue;
    best = d;
    best_cut = cut;
  }
  return std::min(largest_, std::ldexp(static_cast<float>(best_cut) / kBins, exponent_));
}

float MagnitudeHistogram::range(CalibrationMethod method) const {
  if (total_ == 0) return 0;
  switch (method) {
    case CalibrationMethod::kMinMax:
      return largest_;
    case CalibrationMethod::kPercentile:
      return percentile_range(kPercentile);
    case CalibrationMethod::kEntropy:
      return entropy_range();
  }
  MASKFIT_CHECK(false, "method={}", static_cast<int>(method));
}

Calibrator::Calibrator(const network::Model& model)
    : network_(model.network),
      executor_({.model = model, .precision = Precision::kFloat32, .quantisation = {}}) {}

void Calibrator::add(const std::vector<std::span<const float>>& pictures) {
  base::parallel_for(static_cast<std::int64_t>(pictures.size()), [&](std::int64_t i) {
    std::map<std::string, MagnitudeHistogram> own;
    executor_.run(
        pictures[static_cast<std::size_t>(i)], /*threads=*/1,
        [&](const network::Node& node, std::span<const float> values) { own[node.name].add(values); });
    const std::lock_guard lock(mutex_);
    for (const auto& [name, histogram] : own) histograms_[name].merge(histogram);
    ++pictures_;
  });
}

std::map<std::string, float> Calibrator::scales(CalibrationMethod method) const {
  MASKFIT_CHECK(pictures_ > 0, "no pictures were added");
  std::map<std::string, float> scales;
  for (const network::Node& node : network_.nodes) {
    const MagnitudeHistogram& histogram = histograms_.at(node.name);
    if (!histogram.finite()) {
      throw Error(ExitCode::kRefused,
                  fmt::format("the layer '{}' gives numbers that are not finite", node.name), network_.name,
                  "the model is broken: look at its training report, and train again");
    }
    if (node.op == network::Op::kMaxPool || node.op == network::Op::kUpsample) {
      scales[node.name] = scales.at(node.inputs[0]);
      continue;
    }
    const float range = histogram.range(method);
    scales[node.name] = (range > 0 ? range : 1.0f) / 127.0f;
  }
  return scales;
}

std::map<std::string, float> Calibrator::largest() const {
  std::map<std::string, float> result;
  for (const auto& [name, histogram] : histograms_) result[name] = histogram.largest();
  return result;
}

}  // namespace maskfit::exporting
