#include "train/target_batch.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::train {
namespace {

TargetOptions options() {
  TargetOptions o;
  o.shapes.deadzone_radius = 0.4f;
  o.shapes.classes = {{}, {}};
  o.geometry = {64, 48, 4, 3};
  o.classes = 2;
  return o;
}

const boxes::Truth kMask{{0, 0, 32, 32}, 0, false};
const boxes::Truth kIgnored{{32, 0, 64, 32}, -1, true};

TEST(TargetBatch, PicturesLieOneAfterTheOther) {
  const TargetBatch batch = make_targets({{kMask}, {}, {kMask}}, {1, 1, 1}, options());
  EXPECT_EQ(batch.count, 3);
  ASSERT_EQ(batch.coverage.size(), 3u * 2 * 12);
  ASSERT_EQ(batch.box.size(), 3u * 2 * 4 * 12);
  const std::vector<float> first(batch.coverage.begin(), batch.coverage.begin() + 24);
  const std::vector<float> last(batch.coverage.begin() + 48, batch.coverage.end());
  EXPECT_EQ(first, last);
  EXPECT_GT(first[0], 0);
  for (int i = 24; i < 48; ++i) EXPECT_EQ(batch.coverage[i], 0);
}

TEST(TargetBatch, PlainBatchesCarryNoMasks) {
  const TargetBatch batch = make_targets({{kMask}}, {1}, options());
  EXPECT_TRUE(batch.coverage_mask.empty());
  EXPECT_TRUE(batch.box_mask.empty());
}

TEST(TargetBatch, IgnoredBoxesLeaveTheLossOfTheirPictureOnly) {
  const TargetBatch batch = make_targets({{kMask, kIgnored}, {kMask}}, {1, 1}, options());
  ASSERT_EQ(batch.coverage_mask.size(), 2u * 2 * 12);
  EXPECT_EQ(batch.coverage_mask[0], 1) << "the mask's own cell";
  EXPECT_EQ(batch.coverage_mask[2], 0) << "under the ignored box";
  EXPECT_EQ(batch.coverage_mask[24 + 2], 1) << "the other picture";
}

TEST(TargetBatch, SourceWeightScalesItsPicture) {
  const TargetBatch batch = make_targets({{kMask}, {kMask}}, {0.5f, 1}, options());
  ASSERT_EQ(batch.box_mask.size(), 2u * 2 * 12);
  EXPECT_EQ(batch.box_mask[0], 0.5f);
  EXPECT_EQ(batch.box_mask[24], 1);
}

TEST(TargetBatch, TaskAlignedTargetsAreTheTruthsThemselves) {
  TargetOptions o = options();
  o.task_aligned = true;
  const TargetBatch batch = make_targets({{kMask, kIgnored}, {}}, {1, 1}, o);
  EXPECT_TRUE(batch.coverage.empty());
  EXPECT_EQ(batch.truths.pictures, 2);
  EXPECT_EQ(batch.truths.slots, 2);
  EXPECT_EQ(batch.truths.kinds, (std::vector<float>{1, -1, 0, 0}));
}

TEST(TargetBatch, OneWeightAPicture) {
  EXPECT_THROW(make_targets({{kMask}}, {}, options()), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::train
