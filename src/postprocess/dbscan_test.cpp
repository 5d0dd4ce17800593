#include "postprocess/dbscan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <deque>

#include "base/rng.h"

namespace maskfit::postprocess {
namespace {

using ::testing::ElementsAre;

std::vector<boxes::Box> row_of(std::initializer_list<float> lefts) {
  std::vector<boxes::Box> list;
  for (const float x : lefts) list.push_back({x, 0, x + 100, 100});
  return list;
}

// The textbook algorithm over the full distance matrix, as scikit-learn runs it.
std::vector<int> textbook(const std::vector<boxes::Box>& boxes, const std::vector<float>& weights,
                          const DbscanOptions& options) {
  const std::size_t n = boxes.size();
  const auto near = [&](std::size_t i, std::size_t j) {
    if (i == j) return true;
    const double w =
        std::max(0.0, std::min<double>(boxes[i].x2, boxes[j].x2) - std::max(boxes[i].x1, boxes[j].x1));
    const double h =
        std::max(0.0, std::min<double>(boxes[i].y2, boxes[j].y2) - std::max(boxes[i].y1, boxes[j].y1));
    const auto area = [](const boxes::Box& b) { return (double(b.x2) - b.x1) * (double(b.y2) - b.y1); };
    return 1 - w * h / (area(boxes[i]) + area(boxes[j]) - w * h + options.regulariser) <= options.eps;
  };
  std::vector<bool> core(n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += near(i, j) ? weights[j] : 0;
    core[i] = sum >= options.min_weight;
  }
  std::vector<int> labels(n, -1);
  int next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!core[i] || labels[i] >= 0) continue;
    std::deque<std::size_t> queue = {i};
    labels[i] = next;
    while (!queue.empty()) {
      const std::size_t p = queue.front();
      queue.pop_front();
      if (!core[p]) continue;
      for (std::size_t q = 0; q < n; ++q) {
        if (labels[q] < 0 && near(p, q)) {
          labels[q] = next;
          queue.push_back(q);
        }
      }
    }
    ++next;
  }
  return labels;
}

TEST(Dbscan, NothingGivesNothing) {
  EXPECT_TRUE(dbscan({}, {}, {}).empty());
}

TEST(Dbscan, EqualsTheTextbookAlgorithm) {
  base::Rng rng(3, base::Purpose::kTest);
  for (const double eps : {0.0, 0.1, 0.3, 0.7, 0.99, 1.0}) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<boxes::Box> boxes;
      std::vector<float> weights;
      for (int i = 0; i < 60; ++i) {
        const float x = 40 * static_cast<float>(rng.uniform_int(0, 2)) + rng.uniform(-6, 6);
        const float y = rng.uniform(0, 20);
        // Some are reversed or empty, as an untrained network gives them.
        boxes.push_back({x, y, x + rng.uniform(-4, 40), y + rng.uniform(-4, 40)});
        weights.push_back(rng.uniform());
      }
      const DbscanOptions options = {eps, 0.01, 1.2};
      EXPECT_EQ(dbscan(boxes, weights, options), textbook(boxes, weights, options)) << "eps " << eps;
    }
  }
}

TEST(Dbscan, WeightsDecideWhoIsCore) {
  const auto boxes = row_of({0, 5});
  EXPECT_THAT(dbscan(boxes, std::vector<float>{0.6f, 0.3f}, {0.3, 0, 1}), ElementsAre(-1, -1));
  EXPECT_THAT(dbscan(boxes, std::vector<float>{0.6f, 0.5f}, {0.3, 0, 1}), ElementsAre(0, 0));
}

TEST(Dbscan, BorderPointJoinsTheFirstClusterThatReachesIt) {
  // 20 px apart is near, 26 px is not. The box at 20 is too weak to be a core point and lies between two
  // clusters.
  const DbscanOptions options = {0.35, 0, 1.4};
  const std::vector<float> weights = {0.6f, 0.6f, 0.6f, 0.1f, 0.6f, 0.6f, 0.6f};
  EXPECT_THAT(dbscan(row_of({-6, -7, 0, 20, 40, 46, 47}), weights, options),
              ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(dbscan(row_of({46, 47, 40, 20, 0, -6, -7}), weights, options),
              ElementsAre(0, 0, 0, 0, 1, 1, 1));
}

TEST(Dbscan, NumbersClustersBySmallestIndex) {
  EXPECT_THAT(dbscan(row_of({500, 0, 503, 2}), std::vector<float>(4, 1), {0.2, 0, 1}),
              ElementsAre(0, 1, 0, 1));
}

TEST(Dbscan, ThousandsOfCandidatesTakeMilliseconds) {
  base::Rng rng(5, base::Purpose::kTest);
  std::vector<boxes::Box> boxes;
  std::vector<float> weights;
  for (int i = 0; i < 8000; ++i) {
    const float x = rng.uniform(0, 1900), y = rng.uniform(0, 1000);
    boxes.push_back({x, y, x + rng.uniform(10, 60), y + rng.uniform(10, 60)});
    weights.push_back(rng.uniform());
  }
  const auto start = std::chrono::steady_clock::now();
  dbscan(boxes, weights, {0.2, 1e-5, 1});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", static_cast<int>(took.count() * 1000));
  EXPECT_LT(took.count(), 2.0) << "the full matrix would hold 64 million distances";
}

TEST(Summarise, MeanIsWeightedByCoverageAndNoiseIsLeftOut) {
  Candidates candidates;
  candidates.boxes_in_network = {{0, 0, 10, 10}, {4, 0, 14, 10}, {900, 900, 910, 910}};
  candidates.coverage = {0.75f, 0.25f, 1};
  const std::vector<Cluster> clusters = summarise(candidates, std::vector<int>{0, 0, -1});
  ASSERT_EQ(clusters.size(), 1u);
  EXPECT_FLOAT_EQ(clusters[0].box.x1, 1);
  EXPECT_FLOAT_EQ(clusters[0].box.x2, 11);
  EXPECT_DOUBLE_EQ(clusters[0].sum_coverage, 1);
  EXPECT_THAT(clusters[0].members, ElementsAre(0, 1));
  // Two coordinates vary by 0.75*1 + 0.25*9 = 3, two do not; mean 1.5 over an area of 100.
  EXPECT_NEAR(clusters[0].spread, std::sqrt(1.5 / 100), 1e-6);
}

TEST(Confidence, MeanCoverageOfEqualCoveragesIsNotANumber) {
  Candidates candidates;
  candidates.boxes_in_network = {{0, 0, 10, 10}, {0, 0, 10, 10}};
  candidates.coverage = {0.5f, 0.5f};
  const std::vector<Cluster> clusters = summarise(candidates, std::vector<int>{0, 0});
  EXPECT_TRUE(std::isnan(confidence_of(clusters[0], ConfidenceModel::kMeanCoverage)));
  EXPECT_DOUBLE_EQ(confidence_of(clusters[0], ConfidenceModel::kAggregateCoverage), 1);
}

}  // namespace
}  // namespace maskfit::postprocess
