#include "loader/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace maskfit::loader {
namespace {

SampleOrder one_source(std::int64_t count, int batch, std::uint64_t seed = 42) {
  return SampleOrder({{0, count, 1}}, SourceSampling::kProportional, batch, seed);
}

TEST(SampleOrder, StepsAreRoundedUp) {
  EXPECT_EQ(one_source(1122, 24).steps_per_epoch(), 47);
  EXPECT_EQ(one_source(24, 24).steps_per_epoch(), 1);
  EXPECT_EQ(one_source(1, 24).steps_per_epoch(), 1);
}

TEST(SampleOrder, EveryPictureOncePerEpochThenTheFillIsAgainShuffled) {
  const auto order = one_source(10, 4).epoch_order(0);
  ASSERT_EQ(order.size(), 12u);
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.begin() + 10).size(), 10u);
  EXPECT_NE(order[10], order[11]) << "two pictures of one walk differ";
}

TEST(SampleOrder, AFewPicturesFillABigBatch) {
  const auto order = one_source(3, 8).epoch_order(5);
  ASSERT_EQ(order.size(), 8u);
  EXPECT_EQ(std::set<std::int64_t>(order.begin() + 3, order.begin() + 6).size(), 3u);
}

TEST(SampleOrder, IsAFunctionOfSeedAndEpoch) {
  EXPECT_EQ(one_source(50, 5, 1).epoch_order(3), one_source(50, 5, 1).epoch_order(3));
  EXPECT_NE(one_source(50, 5, 1).epoch_order(3), one_source(50, 5, 1).epoch_order(4));
  EXPECT_NE(one_source(50, 5, 1).epoch_order(3), one_source(50, 5, 2).epoch_order(3));
}

TEST(SampleOrder, SourcesAreDrawnInProportionOrEqually) {
  const std::vector<Source> sources = {{0, 900, 1}, {900, 0, 1}, {900, 100, 2}};
  for (const auto [sampling, share] :
       {std::pair{SourceSampling::kProportional, 0.1}, std::pair{SourceSampling::kUniform, 0.5}}) {
    const SampleOrder order(sources, sampling, 10, 7);
    std::int64_t second = 0, all = 0;
    for (int epoch = 0; epoch < 10; ++epoch) {
      for (const std::int64_t picture : order.epoch_order(epoch)) {
        ++all;
        second += picture >= 900;
      }
    }
    EXPECT_EQ(all, 10000);
    EXPECT_NEAR(static_cast<double>(second) / all, share, 0.02);
  }
}

TEST(SampleOrder, WithinASourceNothingComesTwiceBeforeAllCameOnce) {
  const SampleOrder order({{0, 7, 1}, {7, 13, 1}}, SourceSampling::kUniform, 10, 3);
  std::vector<std::int64_t> of_first;
  for (const std::int64_t picture : order.epoch_order(0)) {
    if (picture < 7) of_first.push_back(picture);
  }
  ASSERT_GE(of_first.size(), 7u);
  EXPECT_EQ(std::set<std::int64_t>(of_first.begin(), of_first.begin() + 7).size(), 7u);
}

TEST(SampleOrder, WeightIsItsSources) {
  const SampleOrder order({{0, 2, 1}, {2, 2, 0.25f}}, SourceSampling::kProportional, 1, 0);
  EXPECT_EQ(order.source_weight(1), 1);
  EXPECT_EQ(order.source_weight(2), 0.25f);
  EXPECT_THROW(order.source_weight(4), base::CheckFailed);
}

TEST(SampleOrder, NoPicturesIsAMistake) {
  EXPECT_THROW(SampleOrder({{0, 0, 1}}, SourceSampling::kUniform, 1, 0), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::loader
