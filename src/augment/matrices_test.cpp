#include "augment/matrices.h"

#include <gtest/gtest.h>

#include <numbers>

#include "base/error.h"

namespace maskfit::augment {
namespace {

void expect_near(const Mat3& actual, const Mat3& expected) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-12) << "element " << i;
}

void expect_near(const boxes::Box& actual, const boxes::Box& expected) {
  EXPECT_NEAR(actual.x1, expected.x1, 1e-4);
  EXPECT_NEAR(actual.y1, expected.y1, 1e-4);
  EXPECT_NEAR(actual.x2, expected.x2, 1e-4);
  EXPECT_NEAR(actual.y2, expected.y2, 1e-4);
}

TEST(Inverse, UndoesAnAffineMap) {
  const Mat3 m =
      multiply(rotation(0.3, 640, 480), multiply(zoom(1.25, 0.8, 17, -4), flip(true, false, 640, 480)));
  expect_near(multiply(m, inverse(m)), kIdentity3);
}

TEST(Inverse, OfASingularOrPerspectiveMapIsOurMistake) {
  EXPECT_THROW(inverse({1, 2, 0, 2, 4, 0, 0, 0, 1}), base::CheckFailed);
  EXPECT_THROW(inverse({1, 0, 0.1, 0, 1, 0, 0, 0, 1}), base::CheckFailed);
}

TEST(Zoom, PutsTheSourcesCornerAtTheGivenOutputPixel) {
  const Mat3 m = zoom(2, 4, 10, 20);
  expect_near(transform({10, 20, 11, 21}, m, RotatedBox::kTwoCorners), {0, 0, 2, 4});
}

TEST(Rotation, KeepsTheCentre) {
  expect_near(transform({49.5f, 29.5f, 50.5f, 30.5f}, rotation(std::numbers::pi / 2, 100, 60),
                        RotatedBox::kEnclosing),
              {49.5f, 29.5f, 50.5f, 30.5f});
}

TEST(HueSaturation, LeavesGreyAlone) {
  const Mat4 m = hue_saturation(40, 1.3);
  for (std::size_t column = 0; column < 3; ++column) {
    // The published coefficients are rounded to three digits, so grey moves by up to .01.
    EXPECT_NEAR(m[column] + m[4 + column] + m[8 + column], 1, 0.01);
  }
}

TEST(Contrast, KeepsItsCentre) {
  const Mat4 m = contrast(0.4, 0.3);
  EXPECT_DOUBLE_EQ(0.3 * m[0] + m[12], 0.3);
  EXPECT_DOUBLE_EQ(0.8 * m[0] + m[12], 0.3 + 0.5 * 1.4);
}

TEST(Transform, WithoutRotationAllModesAgree) {
  const Mat3 m = multiply(zoom(0.7, 1.1, 30, 5), flip(true, true, 200, 100));
  const boxes::Box box{10, 20, 50, 90};
  const boxes::Box expected = transform(box, m, RotatedBox::kTwoCorners);
  expect_near(transform(box, m, RotatedBox::kEnclosing), expected);
  expect_near(transform(box, m, RotatedBox::kEllipse), expected);
  EXPECT_LT(expected.x1, expected.x2);
}

TEST(Transform, TwoCornersOfATurnedSquareDependOnTheDirection) {
  // The reference's rule: at 45 degrees the two corners of a square fall on one line.
  const boxes::Box box =
      transform({-10, -10, 10, 10}, rotation(std::numbers::pi / 4, 0, 0), RotatedBox::kTwoCorners);
  EXPECT_NEAR(box.width(), 0, 1e-4);
  EXPECT_NEAR(box.height(), 20 * std::numbers::sqrt2, 1e-4);
}

TEST(Transform, AnEllipseInASquareIsACircleAndKeepsItsBox) {
  expect_near(transform({-10, -10, 10, 10}, rotation(0.6, 0, 0), RotatedBox::kEllipse), {-10, -10, 10, 10});
  expect_near(transform({-10, -20, 10, 20}, rotation(std::numbers::pi / 2, 0, 0), RotatedBox::kEllipse),
              {-20, -10, 20, 10});
}

TEST(Transform, TheEnclosingBoxHoldsAllFourCorners) {
  const double side = 10 * std::numbers::sqrt2;
  expect_near(transform({-10, -10, 10, 10}, rotation(std::numbers::pi / 4, 0, 0), RotatedBox::kEnclosing),
              {static_cast<float>(-side), static_cast<float>(-side), static_cast<float>(side),
               static_cast<float>(side)});
}

}  // namespace
}  // namespace maskfit::augment
