#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"

namespace maskfit::base {
namespace {

std::vector<std::uint32_t> first(Rng rng, int n) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(rng.next_u32());
  return numbers;
}

TEST(Rng, PureFunctionOfItsArguments) {
  EXPECT_EQ(first(Rng(1, Purpose::kTest, 2, 3), 100), first(Rng(1, Purpose::kTest, 2, 3), 100));
}

TEST(Rng, EveryArgumentChangesTheStream) {
  const auto base = first(Rng(1, Purpose::kTest, 2, 3), 4);
  EXPECT_NE(base, first(Rng(2, Purpose::kTest, 2, 3), 4));
  EXPECT_NE(base, first(Rng(1, Purpose::kShuffle, 2, 3), 4));
  EXPECT_NE(base, first(Rng(1, Purpose::kTest, 3, 3), 4));
  EXPECT_NE(base, first(Rng(1, Purpose::kTest, 2, 4), 4));
  EXPECT_NE(base, first(Rng(1, Purpose::kTest, 2, 3 + (std::uint64_t{1} << 32)), 4));
}

// An old run must stay reproducible: these numbers may never change. They come from a separate Philox4x32-10
// that reproduces Random123's known answer (key 0, counter 0 -> 6627e8d5 e169c58d bc57ac4c 9b00dbd8).
TEST(Rng, NumbersAreFixedForever) {
  const std::vector<std::uint32_t> expected = {2522197708u, 3481387083u, 2455923563u,
                                               350526189u,  3043787742u, 2837312038u};
  EXPECT_EQ(first(Rng(42, Purpose::kTest, 1, 7), 6), expected);
}

TEST(Rng, NoRepetitionAcrossBlocks) {
  const auto numbers = first(Rng(5, Purpose::kTest), 1000);
  EXPECT_EQ(std::set<std::uint32_t>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST(Rng, UniformIsHalfOpenWithTheRightMoments) {
  Rng rng(1, Purpose::kTest);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const float x = rng.uniform();
    ASSERT_GE(x, 0.0f);
    ASSERT_LT(x, 1.0f);
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  // Standard errors of mean and second moment are about 0.001.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.005);
}

TEST(Rng, UniformOfAReversedInterval) {
  Rng rng(1, Purpose::kTest);
  for (int i = 0; i < 1000; ++i) {
    const float x = rng.uniform(2.0f, -1.0f);
    ASSERT_LE(x, 2.0f);
    ASSERT_GE(x, -1.0f);
  }
}

TEST(Rng, UniformIntReachesBothEnds) {
  Rng rng(1, Purpose::kTest);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.uniform_int(-2, 3));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(rng.uniform_int(5, 5), 5);
  EXPECT_THROW(rng.uniform_int(3, 2), CheckFailed);
}

TEST(Rng, NormalHasTheRightMoments) {
  Rng rng(1, Purpose::kTest);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.03);
}

TEST(Rng, TruncatedNormalStaysWithinTwoSigma) {
  Rng rng(1, Purpose::kTest);
  float largest = 0;
  for (int i = 0; i < 10000; ++i) largest = std::max(largest, std::abs(rng.truncated_normal(3.0f)));
  EXPECT_LE(largest, 6.0f);
  EXPECT_GT(largest, 5.5f);  // and is not cut sooner
}

TEST(Rng, PermutationHoldsEveryNumberOnce) {
  auto order = Rng(1, Purpose::kShuffle).permutation(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(Rng(1, Purpose::kShuffle).permutation(0).empty());
}

}  // namespace
}  // namespace maskfit::base
