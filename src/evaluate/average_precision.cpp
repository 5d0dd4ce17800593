#include "evaluate/average_precision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace maskfit::evaluate {
namespace {

bool undefined(std::span<const double> precision, std::span<const double> recall) {
  MASKFIT_CHECK(precision.size() == recall.size(), "precision {} recall {}", precision.size(), recall.size());
  return precision.empty() || std::isnan(recall.back());
}

// Best precision at this point or later.
std::vector<double> envelope(std::span<const double> precision) {
  std::vector<double> best(precision.begin(), precision.end());
  for (std::size_t i = best.size(); i-- > 1;) best[i - 1] = std::max(best[i - 1], best[i]);
  return best;
}

}  // namespace

double ap_all_point(std::span<const double> precision, std::span<const double> recall) {
  if (undefined(precision, recall)) return 0;
  const std::vector<double> best = envelope(precision);
  double area = 0;
  double from = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    area += (recall[i] - from) * best[i];
    from = recall[i];
  }
  return area;
}

double ap_sample(std::span<const double> precision, std::span<const double> recall) {
  if (undefined(precision, recall)) return 0;
  const std::vector<double> best = envelope(precision);
  double sum = 0;
  for (int k = 0; k <= 10; ++k) {
    const auto at = std::lower_bound(recall.begin(), recall.end(), k * 0.1);
    if (at != recall.end()) sum += best[at - recall.begin()];
  }
  return sum / 11;
}

double ap_integrate(std::span<const double> precision, std::span<const double> recall) {
  if (undefined(precision, recall)) return 0;
  // first[k]: the first point of the k-th distinct recall.
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < recall.size(); ++i) {
    if (first.empty() || recall[i] != recall[first.back()]) first.push_back(i);
  }
  double area = 0;
  double best = 0;
  for (std::size_t k = first.size() - 1; k-- > 0;) {
    best = std::max(best, *std::max_element(precision.begin() + first[k], precision.begin() + first[k + 1]));
    area += best * (recall[first[k + 1]] - recall[first[k]]);
  }
  return area;
}

double ap_coco(std::span<const double> precision, std::span<const double> recall) {
  if (undefined(precision, recall)) return 0;
  const std::vector<double> best = envelope(precision);
  double sum = 0;
  for (int k = 0; k <= 100; ++k) {
    const auto at = std::lower_bound(recall.begin(), recall.end(), k * 0.01);
    if (at != recall.end()) sum += best[at - recall.begin()];
  }
  return sum / 101;
}

}  // namespace maskfit::evaluate
