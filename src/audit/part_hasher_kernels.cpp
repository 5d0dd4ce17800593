#include <algorithm>
#include <cmath>
#include <numbers>

#include "audit/part_hasher.h"
#include "base/error.h"

namespace maskfit::audit {

PartHasher::PartHasher(const std::vector<std::array<float, 2>>& intervals, std::size_t group)
    : group_(group), intervals_(intervals.size()) {
  MASKFIT_CHECK(group > 0 && intervals.size() % group == 0, "intervals={} group={}", intervals.size(), group);
  weights_.assign(intervals_ * kLow * kSide, 0);
  transposed_.assign(weights_.size(), 0);
  for (std::size_t k = 0; k < intervals_; ++k) {
    for (std::size_t i = 0; i < kSide; ++i) {
      // Place i of the part lies between two places of the print, as in print_of_part().
      const double length = intervals[k][1] - intervals[k][0];
      const double at = std::clamp(intervals[k][0] * kSide + (static_cast<double>(i) + 0.5) * length - 0.5,
                                   0.0, static_cast<double>(kSide - 1));
      const auto before = static_cast<std::size_t>(at);
      const std::size_t after = std::min(before + 1, kSide - 1);
      const double share = at - static_cast<double>(before);
      for (std::size_t u = 0; u < kLow; ++u) {
        const double cosine = std::cos(std::numbers::pi * (2.0 * static_cast<double>(i) + 1) *
                                       static_cast<double>(u) / (2.0 * kSide));
        float* row = weights_.data() + (k * kLow + u) * kSide;
        row[before] += static_cast<float>((1 - share) * cosine);
        row[after] += static_cast<float>(share * cosine);
      }
    }
    for (std::size_t u = 0; u < kLow; ++u) {
      for (std::size_t x = 0; x < kSide; ++x)
        transposed_[x * intervals_ * kLow + k * kLow + u] = weights_[(k * kLow + u) * kSide + x];
    }
  }
}

std::vector<std::uint64_t> PartHasher::hashes(const dataset::Print& print) const {
  // rows[y][k][u]: coefficient u of interval k of row y.
  const std::size_t width = intervals_ * kLow;
  std::vector<float> rows(kSide * width, 0.0f);
  for (std::size_t y = 0; y < kSide; ++y) {
    float* row = rows.data() + y * width;
    for (std::size_t x = 0; x < kSide; ++x) {
      const float value = print[y * kSide + x];
      const float* weight = transposed_.data() + x * width;
      for (std::size_t i = 0; i < width; ++i) row[i] += value * weight[i];
    }
  }
  std::vector<std::uint64_t> hashes;
  hashes.reserve(intervals_ * group_);
  const std::size_t columns = group_ * kLow;
  std::vector<float> sums(columns);  // [kx of the group][u], of one v
  std::vector<std::uint64_t> found(group_);
  for (std::size_t ky = 0; ky < intervals_; ++ky) {
    const std::size_t first = ky / group_ * group_;
    std::fill(found.begin(), found.end(), 0);
    for (std::size_t v = 0; v < kLow; ++v) {
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (std::size_t y = 0; y < kSide; ++y) {
        const float weight = weights_[(ky * kLow + v) * kSide + y];
        const float* row = rows.data() + y * width + first * kLow;
        for (std::size_t i = 0; i < columns; ++i) sums[i] += weight * row[i];
      }
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t u = i % kLow;
        if (sums[i] > 0 && (u != 0 || v != 0)) found[i / kLow] |= std::uint64_t{1} << (kLow * v + u);
      }
    }
    hashes.insert(hashes.end(), found.begin(), found.end());
  }
  return hashes;
}

}  // namespace maskfit::audit
