#include "targets/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/rng.h"

namespace maskfit::targets {
namespace {

using ::testing::Each;

Stamp circle(float x, float y, float dead_radius, float ratio) {
  Stamp stamp;
  stamp.matrix[0][0] = stamp.matrix[1][1] = 1 / dead_radius;
  stamp.matrix[2][0] = -x / dead_radius;
  stamp.matrix[2][1] = -y / dead_radius;
  stamp.ratio_x = stamp.ratio_y = ratio;
  return stamp;
}

struct Canvas {
  int width, height;
  std::vector<float> plane;
  PlaneCanvas canvas;

  Canvas(int w, int h, GradientFlag flag = GradientFlag::kMultiplyByCoverage)
      : width(w), height(h), plane(static_cast<std::size_t>(w) * h), canvas(w, h, {plane.data()}, {flag}) {}
  float at(int x, int y) const { return plane[y * width + x]; }
  void draw(const Stamp& stamp, float value = 1) { canvas.draw(stamp, std::vector<Gradient>{{0, 0, value}}); }
};

TEST(Draw, CoverageIsTheFractionOfSixteenSamples) {
  Canvas c(5, 3);
  c.draw(circle(2, 3, 1, 0.5f));  // centre on the lower edge of the grid, radius half a cell
  EXPECT_EQ(c.at(1, 2), 3.0f / 16);
  EXPECT_EQ(c.at(2, 2), 3.0f / 16);
  EXPECT_EQ(c.at(0, 2), 0);
}

TEST(Draw, DeadZoneErasesWhatIsBehind) {
  Canvas c(9, 9);
  c.draw(circle(4.5f, 4.5f, 3, 1), 1);
  EXPECT_EQ(c.at(2, 4), 1);
  c.draw(circle(4.5f, 4.5f, 3, 0.4f), 7);  // same dead zone, small coverage area
  EXPECT_EQ(c.at(2, 4), 0) << "in the dead zone, outside the coverage area";
  EXPECT_EQ(c.at(4, 4), 7);
}

TEST(Draw, WeakEdgeOfADeadZoneDoesNotEraseAStrongOwner) {
  Canvas c(9, 9);
  c.draw(circle(2.5f, 4.5f, 2.5f, 1));
  ASSERT_EQ(c.at(3, 4), 1);
  c.draw(circle(6.3f, 4.5f, 2.5f, 0.5f));
  ASSERT_GT(cell_cover(circle(6.3f, 4.5f, 2.5f, 0.5f), 3, 4).dead_zone, 0);
  EXPECT_EQ(c.at(3, 4), 1);
}

TEST(Draw, AtEqualCoverageTheLaterBoxWins) {
  Canvas c(5, 5);
  c.draw(circle(2.5f, 2.5f, 2, 1), 3);
  c.draw(circle(2.5f, 2.5f, 2, 1), 8);
  EXPECT_EQ(c.at(2, 2), 8);
}

TEST(Draw, PassThroughGradientsIgnoreCoverage) {
  Canvas c(5, 5, GradientFlag::kPassThrough);
  c.draw(circle(2.5f, 2.5f, 1.2f, 1), 3);
  ASSERT_LT(cell_cover(circle(2.5f, 2.5f, 1.2f, 1), 1, 2).coverage, 1);
  EXPECT_EQ(c.at(1, 2), 3);
}

// The bounding box may never cut off a cell that a full scan would have drawn.
TEST(Draw, ReachHoldsEveryCellWithCover) {
  base::Rng rng(1, base::Purpose::kTest);
  for (int trial = 0; trial < 300; ++trial) {
    Stamp stamp;
    for (auto& row : stamp.matrix) {
      row[0] = rng.uniform(-1, 1);
      row[1] = rng.uniform(-1, 1);
    }
    stamp.matrix[2][0] *= 6;
    stamp.matrix[2][1] *= 6;
    stamp.ratio_x = rng.uniform(0.2f, 1.3f);
    stamp.ratio_y = rng.uniform(0.2f, 1.3f);
    stamp.ellipse = rng.bernoulli(0.5f);
    const CellRange range = reach(stamp, 12, 9);
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 12; ++x) {
        const CellCover cover = cell_cover(stamp, x, y);
        if (cover.dead_zone == 0 && cover.coverage == 0) continue;
        EXPECT_TRUE(x >= range.x_begin && x < range.x_end && y >= range.y_begin && y < range.y_end)
            << "trial " << trial << " cell " << x << "," << y;
      }
    }
  }
}

TEST(Draw, ReachOfAnEllipseIsTight) {
  const CellRange range = reach(circle(10.5f, 20.5f, 2, 0.5f), 100, 100);
  EXPECT_EQ(range.x_begin, 8);
  EXPECT_EQ(range.x_end, 13);
  EXPECT_EQ(range.y_begin, 18);
  EXPECT_EQ(range.y_end, 23);
}

TEST(Draw, ReachFarOutsideIsEmptyAndDoesNotOverflow) {
  const CellRange range = reach(circle(1e20f, -1e20f, 5, 1), 10, 10);
  EXPECT_EQ(range.x_begin, range.x_end);
  EXPECT_EQ(range.y_begin, range.y_end);
}

TEST(Draw, SingularMatrixScansTheWholeGrid) {
  Stamp stamp = circle(1, 1, 1, 1);
  stamp.matrix[0][0] = 0;
  const CellRange range = reach(stamp, 10, 7);
  EXPECT_EQ(range.x_end, 10);
  EXPECT_EQ(range.y_end, 7);
}

TEST(Draw, RefusesAWrongNumberOfGradients) {
  Canvas c(3, 3);
  EXPECT_THROW(c.canvas.draw(circle(1, 1, 1, 1), std::vector<Gradient>(2)), base::CheckFailed);
}

TEST(BoxStamp, ReversedBoxGetsTheSmallestEllipseAndFiniteRamps) {
  const BoxStamp stamp = box_stamp({3, 3, 1, 4}, ClassShape{}, 0.67f, 16, 16, BoxCoding{});
  EXPECT_FLOAT_EQ(stamp.stamp.ratio_x, 1);
  for (const Gradient& gradient : stamp.gradients) {
    EXPECT_TRUE(std::isfinite(gradient.a) && std::isfinite(gradient.b) && std::isfinite(gradient.d));
  }
}

TEST(BoxStamp, PointBoxHasAUnitWeightAtMost) {
  const BoxStamp stamp = box_stamp({2, 2, 2, 2}, {0.5f, 0.5f, 1, 1, 0.25f}, 1, 16, 16, BoxCoding{});
  EXPECT_EQ(stamp.inverse_area, 1) << "4 * 0.25 * 0.25 is under one cell";
  EXPECT_TRUE(std::isfinite(stamp.gradients[kLeft].a));
}

}  // namespace
}  // namespace maskfit::targets
