#include "boxes/box.h"

#include <gtest/gtest.h>

namespace maskfit::boxes {
namespace {

constexpr Box kUnit{0, 0, 10, 10};

TEST(Box, DegenerateBoxHasNoArea) {
  EXPECT_EQ(kUnit.area(), 100);
  EXPECT_EQ((Box{5, 0, 5, 10}).area(), 0);
  EXPECT_EQ((Box{8, 8, 2, 2}).area(), 0);  // both sides reversed: not 36
}

TEST(IntersectionArea, TouchingBoxesShareNothing) {
  EXPECT_EQ(intersection_area(kUnit, {5, 5, 20, 20}), 25);
  EXPECT_EQ(intersection_area(kUnit, {10, 0, 20, 10}), 0);
  EXPECT_EQ(intersection_area(kUnit, {30, 30, 40, 40}), 0);
}

TEST(Iou, OfContinuousAreas) {
  EXPECT_FLOAT_EQ(iou(kUnit, kUnit), 1.0f);
  EXPECT_FLOAT_EQ(iou(kUnit, {5, 0, 15, 10}), 50.0f / 150.0f);
  EXPECT_FLOAT_EQ(iou(kUnit, {5, 0, 15, 10}), iou({5, 0, 15, 10}, kUnit));
}

TEST(Iou, OfTwoPointsIsZeroNotNan) {
  EXPECT_EQ(iou({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
}

TEST(Iou, RegulariserLowersIt) {
  EXPECT_FLOAT_EQ(iou(kUnit, kUnit, 25.0f), 100.0f / 125.0f);
}

TEST(IouInclusive, EverySideIsOnePixelLonger) {
  EXPECT_FLOAT_EQ(iou_inclusive(kUnit, {5, 0, 15, 10}), 6.0f * 11.0f / (121.0f + 121.0f - 66.0f));
  // Neighbours that only touch overlap by one pixel column in this convention.
  EXPECT_GT(iou_inclusive(kUnit, {10, 0, 20, 10}), 0.0f);
  EXPECT_EQ(iou_inclusive(kUnit, {12, 0, 20, 10}), 0.0f);
}

TEST(Clip, CutsToThePicture) {
  EXPECT_EQ(clip({-5, -5, 50, 8}, 20, 10), (Box{0, 0, 20, 8}));
  EXPECT_EQ(clip({30, 2, 40, 8}, 20, 10).area(), 0);
}

TEST(Scale, EachAxisByItsFactor) {
  EXPECT_EQ(scale({1, 2, 3, 4}, 2, 0.5f), (Box{2, 1, 6, 2}));
}

TEST(GridGeometry, CellsFromPixels) {
  const GridGeometry geometry{960, 544, 60, 34};
  EXPECT_EQ(geometry.stride_x(), 16);
  EXPECT_EQ(geometry.stride_y(), 16);
  EXPECT_EQ(geometry.cells(), 2040);
  EXPECT_EQ(grid_from_network({16, 32, 480, 544}, geometry), (Box{1, 2, 30, 34}));
}

}  // namespace
}  // namespace maskfit::boxes
