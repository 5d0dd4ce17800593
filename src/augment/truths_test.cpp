#include "augment/truths.h"

#include <gmock/gmock.h>

#include "augment/matrices.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

Options options_with(Outside outside, float min_visible_share = 0) {
  Options options;
  options.output = {100, 100};
  options.labels.outside = outside;
  options.labels.min_visible_share = min_visible_share;
  return options;
}

Plan plan_with(const Mat3& source_from_output) {
  Plan plan;
  plan.tiles.push_back({0, to_float(source_from_output), {0, 0, 100, 100}});
  return plan;
}

boxes::Truths moved(const Plan& plan, const boxes::Truths& truths, const Options& options) {
  const boxes::Truths* lists[] = {&truths};
  return truths_in_network(plan, lists, options);
}

TEST(TruthsInNetwork, BoxesGoWhereThePixelsGo) {
  // Output pixel x shows source pixel x + 10: the picture moves left.
  const boxes::Truths out =
      moved(plan_with(translation(10, 0)), {{{20, 5, 40, 25}, 1, false}}, options_with(Outside::kKeep));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].box, (boxes::Box{10, 5, 30, 25}));
  EXPECT_EQ(out[0].class_index, 1);
}

TEST(TruthsInNetwork, AFlipKeepsCornersInOrder) {
  const auto out = moved(plan_with(flip(true, false, 100, 100)), {{{20, 5, 40, 25}, 0, true}},
                         options_with(Outside::kKeep));
  EXPECT_EQ(out.at(0).box, (boxes::Box{60, 5, 80, 25}));
  EXPECT_TRUE(out.at(0).ignore);
}

TEST(TruthsInNetwork, KeepLeavesBoxesOutsideAlone) {
  const auto out =
      moved(plan_with(translation(500, 0)), {{{20, 5, 40, 25}, 0, false}}, options_with(Outside::kKeep));
  EXPECT_EQ(out.at(0).box, (boxes::Box{-480, 5, -460, 25}));
}

TEST(TruthsInNetwork, ClipCutsAtTheEdgeAndDropsWhatIsOutside) {
  const auto out =
      moved(plan_with(kIdentity3), {{{-10, 90, 30, 120}, 0, false}, {{100, 0, 120, 20}, 0, false}},
            options_with(Outside::kClip));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].box, (boxes::Box{0, 90, 30, 100}));
  EXPECT_FALSE(out[0].ignore);
}

TEST(TruthsInNetwork, TooSmallAVisibleShareIsIgnoredRatherThanForgotten) {
  const auto out = moved(plan_with(kIdentity3), {{{-30, 0, 10, 40}, 0, false}, {{-20, 0, 20, 40}, 0, false}},
                         options_with(Outside::kClip, 0.3f));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[0].ignore) << "a quarter is visible";
  EXPECT_FALSE(out[1].ignore) << "half is visible";
}

TEST(TruthsInNetwork, AMosaicCutsAtTheTilesEdgeAndSkipsMissingLists) {
  Plan plan;
  plan.tiles.push_back({0, to_float(kIdentity3), {0, 0, 50, 100}});
  plan.tiles.push_back({1, to_float(kIdentity3), {50, 0, 100, 100}});
  const boxes::Truths truths{{{30, 10, 70, 20}, 0, false}};
  const boxes::Truths* lists[] = {nullptr, &truths};
  const auto out = truths_in_network(plan, lists, options_with(Outside::kKeep));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].box, (boxes::Box{50, 10, 70, 20}));
}

TEST(TruthsInNetwork, BoxesBelowOneCanvasPixelAreLeftOut) {
  const auto out =
      moved(plan_with(scaling(0.1, 0.1)), {{{2, 2, 2.9f, 9}, 0, false}, {{2, 2, 3, 3}, 0, false}},
            options_with(Outside::kKeep));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NEAR(out[0].box.width(), 10, 1e-4);
}

TEST(TruthsInNetwork, TheSmallestWantedSizeCountsInTheOutput) {
  Options options = options_with(Outside::kClip);
  options.labels.min_width = 12;
  EXPECT_TRUE(moved(plan_with(kIdentity3), {{{-9, 0, 11, 40}, 0, false}}, options).empty());
  EXPECT_EQ(moved(plan_with(kIdentity3), {{{-8, 0, 12, 40}, 0, false}}, options).size(), 1u);
}

TEST(TruthsInNetwork, TheReferenceCropCutsInTheWrongCoordinates) {
  Options options = options_with(Outside::kReferenceCrop);
  options.crop = {50, 0, 150, 100};
  // The crop moves the box from 60..80 to 10..30; the reference then compares that with 50..150 and loses it.
  EXPECT_TRUE(moved(plan_with(translation(50, 0)), {{{60, 10, 80, 30}, 0, false}}, options).empty());
  options.labels.outside = Outside::kClip;
  EXPECT_EQ(moved(plan_with(translation(50, 0)), {{{60, 10, 80, 30}, 0, false}}, options).size(), 1u);
}

TEST(TruthsInNetwork, AMissingListOfTruthsIsOurMistake) {
  EXPECT_THROW(truths_in_network(plan_with(kIdentity3), {}, options_with(Outside::kKeep)), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::augment
