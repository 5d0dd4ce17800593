#pragma once

// Line charts as inline SVG. Colours come from the page's style (classes s0 ... s7), so they follow light and
// dark.

#include <optional>
#include <string>
#include <vector>

namespace maskfit::report {

struct Point {
  double x = 0, y = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;    // by ascending x; a y that is not finite leaves a gap
  std::optional<Point> marker;  // a point to stress, such as the chosen threshold
};

struct Chart {
  std::string title;
  std::string x_label, y_label;
  std::vector<Series> series;
  bool unit_range = false;  // y (and with square, x) runs from 0 to 1
  bool square = false;
  bool may_be_logarithmic = false;  // when all values are positive and span more than a factor of 30
};

// An HTML figure with legend, chart and, for the page's script, the values. Long series are drawn as the mean
// of equal runs of points, at most 400. A chart without a finite point says so.
std::string line_chart(const Chart& chart);

// Round numbers that cover [low, high] with about `wanted` steps: multiples of 1, 2 or 5 times a power of
// ten. Empty for an interval that is empty or not finite.
std::vector<double> nice_ticks(double low, double high, int wanted);
// Powers of ten inside [low, high] (with 2 and 5 times them when there are fewer than three). REQUIRES 0 <
// low <= high.
std::vector<double> log_ticks(double low, double high);
// At most n points, each the mean of an equal run.
std::vector<Point> averaged(const std::vector<Point>& points, std::size_t n);

}  // namespace maskfit::report
