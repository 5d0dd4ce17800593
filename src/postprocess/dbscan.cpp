#include "postprocess/dbscan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace maskfit::postprocess {
namespace {

double area(const boxes::Box& box) {
  return (static_cast<double>(box.x2) - box.x1) * (static_cast<double>(box.y2) - box.y1);
}

double distance(const boxes::Box& a, const boxes::Box& b, double regulariser) {
  const double width = std::min<double>(a.x2, b.x2) - std::max<double>(a.x1, b.x1);
  const double height = std::min<double>(a.y2, b.y2) - std::max<double>(a.y1, b.y1);
  const double intersection = std::max(width, 0.0) * std::max(height, 0.0);
  return 1.0 - intersection / (area(a) + area(b) - intersection + regulariser);
}

// Enumerates near pairs by a sweep over x1. With IoU >= 1 - eps the common width is at least (1 - eps) of
// either box, so the right one starts within eps of the left one's width; pairs farther apart are never
// looked at.
class NearPairs {
 public:
  NearPairs(std::span<const boxes::Box> boxes, const DbscanOptions& options)
      : boxes_(boxes), options_(options), by_left_(boxes.size()) {
    std::iota(by_left_.begin(), by_left_.end(), 0);
    std::sort(by_left_.begin(), by_left_.end(), [&](int a, int b) { return boxes_[a].x1 < boxes_[b].x1; });
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t p = 0; p < by_left_.size(); ++p) {
      const boxes::Box& left = boxes_[by_left_[p]];
      // From eps = 1 on everything is near everything: disjoint boxes have distance 1.
      const double limit = options_.eps < 1 ? left.x1 + options_.eps * std::abs(left.width()) + 1e-3
                                            : std::numeric_limits<double>::infinity();
      for (std::size_t q = p + 1; q < by_left_.size() && boxes_[by_left_[q]].x1 <= limit; ++q) {
        if (distance(left, boxes_[by_left_[q]], options_.regulariser) <= options_.eps)
          visit(by_left_[p], by_left_[q]);
      }
    }
  }

 private:
  std::span<const boxes::Box> boxes_;
  const DbscanOptions& options_;
  std::vector<int> by_left_;
};

// Disjoint sets whose root is their smallest member.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

std::vector<bool> core_points(const NearPairs& pairs, std::span<const float> weights, double min_weight) {
  std::vector<double> neighbourhood(weights.begin(), weights.end());
  pairs.for_each([&](int a, int b) {
    neighbourhood[a] += weights[b];
    neighbourhood[b] += weights[a];
  });
  std::vector<bool> core(weights.size());
  for (std::size_t i = 0; i < core.size(); ++i) core[i] = neighbourhood[i] >= min_weight;
  return core;
}

}  // namespace

std::vector<int> dbscan(std::span<const boxes::Box> boxes, std::span<const float> weights,
                        const DbscanOptions& options) {
  MASKFIT_CHECK(boxes.size() == weights.size(), "boxes {} weights {}", boxes.size(), weights.size());
  const std::size_t n = boxes.size();
  const NearPairs pairs(boxes, options);
  const std::vector<bool> core = core_points(pairs, weights, options.min_weight);
  Sets sets(n);
  pairs.for_each([&](int a, int b) {
    if (core[a] && core[b]) sets.join(a, b);
  });
  // Roots are smallest core points, so counting them in order numbers the clusters as the reference does.
  std::vector<int> labels(n, -1);
  int clusters = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!core[i]) continue;
    const int root = sets.root(static_cast<int>(i));
    labels[i] = root == static_cast<int>(i) ? clusters++ : labels[root];
  }
  if (std::find(core.begin(), core.end(), false) != core.end() && clusters > 0) {
    const auto adopt = [&](int border, int cluster) {
      if (labels[border] < 0 || cluster < labels[border]) labels[border] = cluster;
    };
    pairs.for_each([&](int a, int b) {
      if (core[a] && !core[b]) adopt(b, labels[a]);
      if (core[b] && !core[a]) adopt(a, labels[b]);
    });
  }
  return labels;
}

std::vector<Cluster> summarise(const Candidates& candidates, std::span<const int> labels) {
  const int count = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
  std::vector<Cluster> clusters(count);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0) clusters[labels[i]].members.push_back(static_cast<int>(i));
  }
  for (Cluster& cluster : clusters) {
    cluster.min_coverage = std::numeric_limits<double>::infinity();
    cluster.max_coverage = -cluster.min_coverage;
    for (const int i : cluster.members) {
      const double weight = candidates.coverage[i];
      cluster.sum_coverage += weight;
      cluster.min_coverage = std::min(cluster.min_coverage, weight);
      cluster.max_coverage = std::max(cluster.max_coverage, weight);
    }
    cluster.mean_coverage = cluster.sum_coverage / static_cast<double>(cluster.members.size());
    std::array<double, 4> mean{}, variance{};
    const auto coordinates = [&](int i) -> std::array<double, 4> {
      const boxes::Box& box = candidates.boxes_in_network[i];
      return {box.x1, box.y1, box.x2, box.y2};
    };
    for (const int i : cluster.members) {
      const double share = candidates.coverage[i] / cluster.sum_coverage;
      for (int k = 0; k < 4; ++k) mean[k] += share * coordinates(i)[k];
    }
    for (const int i : cluster.members) {
      const double share = candidates.coverage[i] / cluster.sum_coverage;
      for (int k = 0; k < 4; ++k) variance[k] += share * std::pow(coordinates(i)[k] - mean[k], 2);
    }
    cluster.box = {static_cast<float>(mean[0]), static_cast<float>(mean[1]), static_cast<float>(mean[2]),
                   static_cast<float>(mean[3])};
    const double mean_area = (mean[2] - mean[0]) * (mean[3] - mean[1]);
    cluster.spread =
        std::sqrt(std::accumulate(variance.begin(), variance.end(), 0.0) / 4 / std::max(mean_area, 0.001));
  }
  return clusters;
}

double confidence_of(const Cluster& cluster, ConfidenceModel model) {
  if (model == ConfidenceModel::kAggregateCoverage) return cluster.sum_coverage;
  return (cluster.mean_coverage - cluster.min_coverage) / (cluster.max_coverage - cluster.min_coverage);
}

}  // namespace maskfit::postprocess
