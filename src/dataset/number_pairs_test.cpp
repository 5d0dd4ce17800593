#include "dataset/number_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A box of whole pixels on a picture of this size.
formats::YoloBox box(image::Size size, int x1 = 7, int y1 = 11, int x2 = 40, int y2 = 64) {
  const double w = size.width, h = size.height;
  return {0, (x1 + x2) / 2.0 / w, (y1 + y2) / 2.0 / h, (x2 - x1) / w, (y2 - y1) / h, false, 1};
}

const image::Size kA{640, 427}, kB{1240, 698}, kC{918, 506}, kD{800, 533};

TEST(NumberPairs, WholePixelsTellTheSizeThatWasDrawnOn) {
  EXPECT_TRUE(drawn_on({box(kB), box(kB, 100, 5, 333, 600)}, kB));
  EXPECT_FALSE(drawn_on({box(kB), box(kB, 100, 5, 333, 600)}, kC));
  EXPECT_TRUE(drawn_on({box({698, 1240})}, kB)) << "drawn on the turned picture";
  EXPECT_TRUE(drawn_on({}, kA));
}

TEST(NumberPairs, LabelsThatFitTheirOwnPicturesStay) {
  const NumberVerdict verdict = judge_numbers({{kA, {box(kA)}}, {kB, {box(kB)}}, {kC, {}}});
  EXPECT_EQ(verdict.shift, 0u);
  EXPECT_THAT(verdict.contradicted, IsEmpty());
}

TEST(NumberPairs, LabelsThatAreAllOffByOneAreShifted) {
  // Label 0 was drawn on picture 3, 1 on 0, ... Two pictures of one size do not hide it.
  const NumberVerdict verdict =
      judge_numbers({{kA, {box(kC)}}, {kB, {box(kA)}}, {kB, {box(kB)}}, {kC, {box(kB)}}});
  EXPECT_EQ(verdict.shift, 3u);
  EXPECT_THAT(verdict.contradicted, IsEmpty());
}

TEST(NumberPairs, WithoutOneShiftForAllTheContradictedAreNamed) {
  const NumberVerdict verdict =
      judge_numbers({{kA, {box(kB)}}, {kB, {box(kA)}}, {kC, {box(kC)}}, {kD, {box(kD)}}});
  EXPECT_EQ(verdict.shift, 0u);
  EXPECT_THAT(verdict.contradicted, ElementsAre(0, 1));
}

TEST(NumberPairs, NumbersThatFitNoPictureProveNothing) {
  // Drawn before all pictures were scaled down.
  const image::Size larger{1333, 777};
  const NumberVerdict verdict =
      judge_numbers({{kA, {box(larger)}}, {kB, {box(larger)}}, {kC, {box(larger)}}});
  EXPECT_EQ(verdict.shift, 0u);
  EXPECT_THAT(verdict.contradicted, IsEmpty());
}

TEST(NumberPairs, LastNumber) {
  EXPECT_EQ(last_number("test_img_12"), 12);
  EXPECT_EQ(last_number("12_img"), 12);
  EXPECT_EQ(last_number("0007"), 7);
  EXPECT_EQ(last_number("img"), -1);
  EXPECT_EQ(last_number("99999999999999999999999"), -1);
}

}  // namespace
}  // namespace maskfit::dataset
