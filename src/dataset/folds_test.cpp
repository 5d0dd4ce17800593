#include "dataset/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "dataset/python_random.h"

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> names(int n) {
  std::vector<std::string> list;
  for (int i = 0; i < n; ++i) list.push_back(fmt::format("img_{:03}", i));
  return list;
}

// python3 -c "import random; random.seed(42); print([random.getrandbits(32) for _ in range(3)])"
TEST(PythonRandom, FirstNumbersAreCPythons) {
  PythonRandom random(42);
  EXPECT_EQ(random.next_u32(), 2746317213u);
  EXPECT_EQ(random.next_u32(), 478163327u);
  EXPECT_EQ(random.next_u32(), 107420369u);
}

TEST(PythonRandom, DrawsStayBelowTheBoundAndReachAllOfIt) {
  PythonRandom random(1);
  std::vector<int> seen(5, 0);
  for (int i = 0; i < 2000; ++i) ++seen.at(random.below(5));
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 300);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(PythonRandom, ShuffleOfNothingAndOneDrawsNothing) {
  PythonRandom a(42), b(42);
  std::vector<int> none, one = {1};
  a.shuffle(none);
  a.shuffle(one);
  EXPECT_EQ(a.next_u32(), b.next_u32());
}

TEST(ReferenceRandomFolds, HundredPercentPutsEverythingIntoFoldZero) {
  const auto folds = reference_random_folds(names(5), 100);
  EXPECT_THAT(folds[0], UnorderedElementsAre("img_000", "img_001", "img_002", "img_003", "img_004"));
  EXPECT_TRUE(folds[1].empty());
}

TEST(ReferenceRandomFolds, ValidationIsTheFirstNamesWhateverOrderTheyComeIn) {
  auto reversed = names(10);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reference_random_folds(reversed, 20), reference_random_folds(names(10), 20));
  EXPECT_THAT(reference_random_folds(reversed, 20)[0], UnorderedElementsAre("img_000", "img_001"));
}

TEST(ReferenceRandomFolds, PercentOutOfRangeIsRefused) {
  EXPECT_THROW(reference_random_folds(names(3), -1), base::Error);
  EXPECT_THROW(reference_random_folds(names(3), 100.5f), base::Error);
}

TEST(SequenceFolds, NoSequenceIsCutAndNoneIsLost) {
  std::vector<std::pair<std::string, Fold>> sequences;
  for (int s = 0; s < 7; ++s) {
    Fold frames;
    for (int f = 0; f <= s; ++f) frames.push_back(fmt::format("{}:{}", s, f));
    sequences.emplace_back(std::to_string(s), frames);
  }
  std::size_t total = 0;
  for (const Fold& fold : sequence_folds(sequences, 3)) {
    for (std::size_t i = 1; i < fold.size(); ++i) {
      if (fold[i].back() != '0') EXPECT_EQ(fold[i][0], fold[i - 1][0]);
    }
    total += fold.size();
  }
  EXPECT_EQ(total, 28u);
}

TEST(SequenceFolds, OneFoldKeepsTheOrderOfTheFile) {
  EXPECT_THAT(sequence_folds({{"b", {"1"}}, {"a", {"2", "3"}}}, 0), ElementsAre(Fold{"1", "2", "3"}));
}

TEST(ShardSizes, LastShardTakesTheRest) {
  EXPECT_THAT(shard_sizes(7, 3), ElementsAre(2, 2, 3));
  EXPECT_THAT(shard_sizes(2, 3), ElementsAre(0, 0, 2));
  EXPECT_THAT(shard_sizes(5, 0), ElementsAre(5));
}

}  // namespace
}  // namespace maskfit::dataset
