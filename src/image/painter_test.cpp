#include "image/painter.h"

#include <gtest/gtest.h>

#include <numbers>

namespace maskfit::image {
namespace {

constexpr float kQuarter = std::numbers::pi_v<float> / 2;

TEST(Shapes, SignsTellInsideFromOutside) {
  const Shape shapes[] = {ellipse({0, 0}, 2, 1), rounded_box({0, 0}, 2, 1, 0.3f),
                          polygon({{-2, -1}, {2, -1}, {2, 1}, {-2, 1}}), stroke({{-1, 0}, {1, 0}}, 2)};
  for (const Shape& shape : shapes) {
    EXPECT_LT(shape({0, 0}), 0);
    EXPECT_NEAR(shape({0, 1}), 0, 1e-5);
    EXPECT_NEAR(shape({2, 0}), 0, 1e-5);
    EXPECT_GT(shape({2, 1.1f}), 0);
  }
}

TEST(Shapes, APolygonMayBeHollow) {
  const Shape arrow = polygon({{0, 0}, {4, 0}, {2, 1}, {4, 2}, {0, 2}});
  EXPECT_LT(arrow({1, 1}), 0);
  EXPECT_GT(arrow({3, 1}), 0);
}

TEST(Shapes, SetOperations) {
  const Shape a = ellipse({0, 0}, 1, 1), b = ellipse({1, 0}, 1, 1);
  EXPECT_LT(unite(a, b)({1.5f, 0}), 0);
  EXPECT_GT(intersect(a, b)({1.5f, 0}), 0);
  EXPECT_LT(subtract(a, b)({-0.5f, 0}), 0);
  EXPECT_GT(subtract(a, b)({0.5f, 0}), 0);
}

TEST(Shapes, ACurveStartsAndEndsWhereItShould) {
  const auto points = curve({0, 0}, {1, 2}, {2, 0}, 4);
  ASSERT_EQ(points.size(), 5u);
  EXPECT_FLOAT_EQ(points[2].y, 1);
  EXPECT_FLOAT_EQ(points[4].x, 2);
}

TEST(Frame, GoesThereAndBack) {
  const Frame frame{{10, 20}, 3, 0.7f};
  const Point p = frame.from_picture(frame.to_picture({1.5f, -2}));
  EXPECT_NEAR(p.x, 1.5f, 1e-5);
  EXPECT_NEAR(p.y, -2, 1e-5);
}

TEST(RgbFromHsv, PrimariesAndGrey) {
  const Rgb green = rgb_from_hsv(1.0f / 3, 1, 0.5f), grey = rgb_from_hsv(-4.2f, 0, 0.25f);
  EXPECT_NEAR(green.g, 0.5f, 1e-5);
  EXPECT_NEAR(green.r + green.b, 0, 1e-5);
  EXPECT_FLOAT_EQ(grey.r, 0.25f);
  EXPECT_FLOAT_EQ(grey.b, 0.25f);
}

TEST(EllipseBox, IsExactForATurnedEllipse) {
  const boxes::Box box = ellipse_box({{10, 10}, 2, kQuarter}, {0, 0}, 3, 1);
  EXPECT_NEAR(box.width(), 4, 1e-4);
  EXPECT_NEAR(box.height(), 12, 1e-4);
}

TEST(EllipseBox, HoldsWhatIsPaintedAndTouchesIt) {
  for (const float turn : {0.0f, 0.4f, -1.1f}) {
    const Frame frame{{30.3f, 28.7f}, 9, turn};
    Painter painter({60, 60}, {0, 0, 0});
    painter.fill(frame, {0, 0}, 2, ellipse({0, 0}, 1, 1.6f), Rgb{1, 1, 1});
    const Image picture = painter.picture();
    int x1 = 99, y1 = 99, x2 = 0, y2 = 0;
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < 60; ++x) {
        if (picture.row(y)[3 * x] < 128) continue;
        x1 = std::min(x1, x), x2 = std::max(x2, x + 1), y1 = std::min(y1, y), y2 = std::max(y2, y + 1);
      }
    }
    const boxes::Box box = ellipse_box(frame, {0, 0}, 1, 1.6f);
    EXPECT_NEAR(box.x1, x1, 1) << turn;
    EXPECT_NEAR(box.y1, y1, 1) << turn;
    EXPECT_NEAR(box.x2, x2, 1) << turn;
    EXPECT_NEAR(box.y2, y2, 1) << turn;
  }
}

TEST(Painter, EdgesAreBlendedByTheCoveredShare) {
  Painter painter({4, 1}, {0, 0, 0});
  painter.fill({{0, 0}, 1, 0}, {0, 0}, 9, rounded_box({0, 0}, 2.25f, 5, 0), Rgb{1, 1, 1});
  const Image picture = painter.picture();
  EXPECT_EQ(picture.row(0)[0], 255);
  EXPECT_EQ(picture.row(0)[6], 64);  // a quarter of pixel 2
  EXPECT_EQ(picture.row(0)[9], 0);
}

TEST(Painter, ShapesOutsideThePictureAreCut) {
  Painter painter({4, 4}, {0.5f, 0.5f, 0.5f});
  painter.fill({{-50, -50}, 10, 0}, {0, 0}, 2, ellipse({0, 0}, 1, 1), Rgb{1, 1, 1});
  painter.fill({{2, 2}, 100, 0}, {0, 0}, 2, ellipse({0, 0}, 1, 1), Rgb{2, -1, 0});
  EXPECT_EQ(painter.picture().pixels[0], 255);
  EXPECT_EQ(painter.picture().pixels[1], 0);
}

}  // namespace
}  // namespace maskfit::image
