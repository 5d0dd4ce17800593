#include "evaluate/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace maskfit::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

boxes::Detection found(const boxes::Box& box, float confidence) {
  return {box, 0, confidence};
}
boxes::Truth truth(const boxes::Box& box) {
  return {box, 0, false};
}

std::vector<int> flags(const ClassMatches& matches) {
  std::vector<int> list;
  for (const ScoredDetection& detection : matches.detections) list.push_back(detection.found ? 1 : 0);
  return list;
}

ClassMatches coco(const std::vector<PictureResult>& pictures, double overlap, const SizeLimits& limits = {},
                  int max_detections = 0) {
  return match_coco(pictures, 0, {&overlap, 1}, limits, max_detections).front();
}

TEST(SizeLimits, BothEndsAreInside) {
  const SizeLimits limits = {10, 20, 100, 200};
  EXPECT_TRUE(limits.admits({0, 0, 10, 20}));
  EXPECT_TRUE(limits.admits({0, 0, 100, 200}));
  EXPECT_FALSE(limits.admits({0, 0, 9.99f, 20}));
  EXPECT_FALSE(limits.admits({0, 0, 10, 200.1f}));
}

TEST(SizeLimits, AMaximumOfZeroIsNoLimit) {
  spec::EvaluationConfig config;
  (*config.mutable_evaluation_box_config())["mask"].set_minimum_width(5);
  const SizeLimits limits = limits_from_spec(config, "mask");
  EXPECT_TRUE(limits.admits({0, 0, 1e6f, 1e6f}));
  EXPECT_FALSE(limits.admits({0, 0, 4, 50}));
  EXPECT_TRUE(limits_from_spec(config, "other").admits({0, 0, 1, 1}));
}

TEST(Overlap, IsHalfWithoutAnEntryAndFloat32WithOne) {
  spec::EvaluationConfig config;
  (*config.mutable_minimum_detection_ground_truth_overlap())["mask"] = 0.7f;
  EXPECT_EQ(overlap_from_spec(config, "other"), 0.5);
  EXPECT_EQ(overlap_from_spec(config, "mask"), static_cast<double>(0.7f));
}

TEST(MatchReference, RoundsHalvesToEvenBeforeItCompares) {
  // 10.5 -> 10 and 11.5 -> 12: the boxes become equal.
  const std::vector<PictureResult> pictures = {
      {"a", {found({10.5f, 11.5f, 50.5f, 50}, 1)}, {truth({10, 12, 50, 50})}}};
  EXPECT_THAT(flags(match_reference(pictures, 0, 1.0, {})), ElementsAre(1));
}

TEST(MatchReference, CountsPixelsOnBothEnds) {
  // Continuous boxes that only touch share a column of pixels: 1*10 of 10*10 + 10*10 - 10.
  const std::vector<PictureResult> pictures = {{"a", {found({9, 0, 18, 9}, 1)}, {truth({0, 0, 9, 9})}}};
  EXPECT_THAT(flags(match_reference(pictures, 0, 10.0 / 190 - 1e-9, {})), ElementsAre(1));
  EXPECT_THAT(flags(match_reference(pictures, 0, 10.0 / 190 + 1e-9, {})), ElementsAre(0));
}

TEST(MatchReference, TiesKeepTheOrderOfPictures) {
  const std::vector<PictureResult> pictures = {{"a", {found({0, 0, 9, 9}, 0.5f)}, {}},
                                               {"b", {found({0, 0, 9, 9}, 0.5f)}, {truth({0, 0, 9, 9})}}};
  EXPECT_THAT(flags(match_reference(pictures, 0, 0.5, {})), ElementsAre(0, 1));
}

TEST(MatchReference, ADetectionOnAnIgnoredTruthIsAFalseAlarm) {
  const std::vector<PictureResult> pictures = {{"a", {found({0, 0, 9, 9}, 0.5f)}, {{{0, 0, 9, 9}, 0, true}}}};
  const ClassMatches matches = match_reference(pictures, 0, 0.5, {});
  EXPECT_EQ(matches.truths, 0);
  EXPECT_THAT(flags(matches), ElementsAre(0));
}

TEST(MatchCoco, TheOverlapItselfIsEnough) {
  const std::vector<PictureResult> pictures = {{"a", {found({0, 0, 10, 5}, 1)}, {truth({0, 0, 10, 10})}}};
  EXPECT_THAT(flags(coco(pictures, 0.5)), ElementsAre(1));
  EXPECT_THAT(flags(coco(pictures, 0.5001)), ElementsAre(0));
}

TEST(MatchCoco, ATruthThatCountsIsPreferredToAnIgnoredOne) {
  // The crowd region holds the detection wholly, the object only by 0.6.
  const std::vector<PictureResult> pictures = {
      {"a", {found({0, 0, 10, 6}, 1)}, {{{0, 0, 100, 100}, 0, true}, truth({0, 0, 10, 10})}}};
  EXPECT_THAT(flags(coco(pictures, 0.5)), ElementsAre(1));
}

TEST(MatchCoco, ACrowdTakesManyDetectionsAndAnOutsizedTruthOnlyOne) {
  const SizeLimits limits = {20, 20};
  const std::vector<PictureResult> crowd = {
      {"a", {found({0, 0, 30, 30}, 1), found({1, 0, 31, 30}, 0.9f)}, {{{0, 0, 60, 60}, 0, true}}}};
  EXPECT_THAT(coco(crowd, 0.5, limits).detections, SizeIs(0));
  // The truth is too small to count; its first detection is let off, the second is a false alarm.
  const std::vector<PictureResult> small = {
      {"a", {found({0, 0, 20, 20}, 1), found({0, 0, 20, 21}, 0.9f)}, {truth({0, 0, 19, 19})}}};
  EXPECT_THAT(flags(coco(small, 0.5, limits)), ElementsAre(0));
}

TEST(MatchCoco, KeepsTheMostConfident) {
  const std::vector<PictureResult> pictures = {
      {"a", {found({50, 50, 60, 60}, 0.2f), found({0, 0, 10, 10}, 0.9f)}, {truth({0, 0, 10, 10})}}};
  EXPECT_THAT(flags(coco(pictures, 0.5, {}, 1)), ElementsAre(1));
}

TEST(MatchCoco, ADegenerateBoxMatchesNothing) {
  const std::vector<PictureResult> pictures = {{"a", {found({5, 5, 5, 5}, 1)}, {truth({5, 5, 5, 5})}}};
  EXPECT_THAT(flags(coco(pictures, 0.5)), ElementsAre(0));
}

TEST(CurveOf, RecallWithoutTruthsIsNotANumber) {
  ClassMatches matches;
  matches.detections = {{0.5f, false}};
  EXPECT_TRUE(std::isnan(curve_of(matches).recall[0]));
  matches.truths = 2;
  matches.detections.push_back({0.4f, true});
  EXPECT_THAT(curve_of(matches).precision, ElementsAre(0, 0.5));
  EXPECT_THAT(curve_of(matches).recall, ElementsAre(0, 0.5));
}

}  // namespace
}  // namespace maskfit::evaluate
