#include "report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace maskfit::report {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const double kNan = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string draw(std::vector<Series> series, bool may_be_logarithmic = false) {
  return line_chart({"T", "x", "y", std::move(series), false, false, may_be_logarithmic});
}

TEST(NiceTicks, AreRoundAndInside) {
  EXPECT_THAT(nice_ticks(0, 1, 5),
              ElementsAre(0, DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6), DoubleEq(0.8), 1));
  EXPECT_THAT(nice_ticks(3, 118, 6), ElementsAre(20, 40, 60, 80, 100));
  EXPECT_THAT(nice_ticks(-3, 3, 3), ElementsAre(-2, 0, 2));
}

TEST(NiceTicks, AnEmptyOrEndlessIntervalHasNone) {
  EXPECT_THAT(nice_ticks(2, 2, 5), IsEmpty());
  EXPECT_THAT(nice_ticks(kNan, 1, 5), IsEmpty());
  EXPECT_THAT(nice_ticks(0, std::numeric_limits<double>::infinity(), 5), IsEmpty());
}

TEST(LogTicks, ArePowersOfTenOrFinerWhenThereAreFew) {
  EXPECT_THAT(log_ticks(0.5, 2000), ElementsAre(DoubleEq(1), DoubleEq(10), DoubleEq(100), DoubleEq(1000)));
  EXPECT_THAT(log_ticks(0.9, 30),
              ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(5), DoubleEq(10), DoubleEq(20)));
}

TEST(Averaged, KeepsTheMeanAndTheGaps) {
  std::vector<Point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({1.0 * i, i < 500 ? kNan : 3.0});
  const std::vector<Point> few = averaged(points, 10);
  ASSERT_THAT(few, SizeIs(10));
  EXPECT_TRUE(std::isnan(few[2].y));
  EXPECT_DOUBLE_EQ(few[7].y, 3);
  EXPECT_DOUBLE_EQ(few[7].x, 749.5);
  EXPECT_THAT(averaged(points, 1000), SizeIs(1000));
}

TEST(LineChart, SaysWhenThereIsNothing) {
  EXPECT_THAT(draw({}), HasSubstr("No values yet"));
  EXPECT_THAT(draw({{"a", {{1, kNan}}, {}}}), HasSubstr("No values yet"));
}

TEST(LineChart, NeverWritesNumbersThatAreNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string svg = draw({{"a", {{0, 1}, {1, kNan}, {2, infinity}, {3, 2}}, {}}});
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(LineChart, AGapLiftsThePen) {
  const std::string svg = draw({{"a", {{0, 1}, {1, 2}, {2, kNan}, {3, 2}, {4, 1}}, {}}});
  const std::string path = svg.substr(svg.find("<path d="));
  EXPECT_EQ(count(path.substr(0, path.find("/>")), "M"), 2u);
}

TEST(LineChart, OneValueHasAPlace) {
  const std::string svg = draw({{"a", {{5, 0.25}}, {}}});
  EXPECT_THAT(svg, HasSubstr("<circle"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(LineChart, WideRangesAreLogarithmicAndLeaveOutZero) {
  const std::vector<Point> wide = {{0, 100}, {1, 10}, {2, 0.01}};
  EXPECT_THAT(draw({{"a", wide, {}}}, true), HasSubstr("log scale"));
  EXPECT_THAT(draw({{"a", wide, {}}}, false), Not(HasSubstr("log scale")));
  EXPECT_THAT(draw({{"a", {{0, 100}, {1, 0}}, {}}}, true), Not(HasSubstr("log scale")));
}

TEST(LineChart, LongSeriesAreThinned) {
  Series series{"a", {}, {}};
  for (int i = 0; i < 20000; ++i) series.points.push_back({1.0 * i, std::sin(i * 0.001)});
  EXPECT_LT(draw({series}).size(), 60000u);
}

TEST(LineChart, EscapesNames) {
  EXPECT_THAT(draw({{"<script>", {{0, 1}, {1, 2}}, {}}, {"b", {{0, 1}}, {}}}), Not(HasSubstr("<script>")));
}

TEST(LineChart, ALegendOnlyForSeveralSeries) {
  EXPECT_THAT(draw({{"a", {{0, 1}}, {}}}), Not(HasSubstr("legend")));
  EXPECT_THAT(draw({{"a", {{0, 1}}, {}}, {"b", {{0, 1}}, {}}}), HasSubstr("legend"));
}

}  // namespace
}  // namespace maskfit::report
