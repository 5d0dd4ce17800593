#include "dataset/sample_modifier.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::dataset {
namespace {

SampleModifier modifier() {
  SampleModifier m;
  m.target_of = {{"mask", "mask"}, {"with_mask", "mask"}, {"no-mask", "bare"}};
  m.dominant = {"mask"};
  m.num_duplicates = 2;
  return m;
}

TEST(SampleModifier, RareClassThatOutnumbersADominantOneIsDuplicated) {
  EXPECT_EQ(modifier().copies({"no-mask", "no-mask", "mask"}), 3);
  EXPECT_EQ(modifier().copies({"no-mask"}), 3);
  EXPECT_EQ(modifier().copies({"no-mask", "mask"}), 1);
  EXPECT_EQ(modifier().copies({"mask", "With_Mask"}), 1);
  EXPECT_EQ(modifier().copies({}), 1);
}

TEST(SampleModifier, ImbalanceScalesTheDominantCount) {
  SampleModifier m = modifier();
  m.min_imbalance = {{"bare", 2.0f}};
  EXPECT_EQ(m.copies({"no-mask", "no-mask", "mask"}), 1);
  EXPECT_EQ(m.copies({"no-mask", "no-mask", "no-mask", "mask"}), 3);
}

TEST(SampleModifier, NoDominantClassMeansNoCopies) {
  SampleModifier m = modifier();
  m.dominant.clear();
  EXPECT_EQ(m.copies({"no-mask"}), 1);
}

TEST(SampleModifier, CapIsSharedByTheTrainingFolds) {
  SampleModifier m;
  EXPECT_FALSE(m.cap(3, true).has_value());
  m.max_training_samples = 101;
  EXPECT_EQ(m.cap(3, true), 50);
  EXPECT_EQ(m.cap(3, false), 33);
  EXPECT_EQ(m.cap(1, true), 101);
}

TEST(SampleModifier, ListsMustNameTargets) {
  SampleModifier m = modifier();
  EXPECT_NO_THROW(m.check());
  m.filter_only = {"with_mask"};
  EXPECT_THROW(m.check(), base::Error);
}

}  // namespace
}  // namespace maskfit::dataset
