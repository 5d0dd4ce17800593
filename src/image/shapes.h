#pragma once

// Two-dimensional shapes as signed distances: negative inside, positive outside, in the units of the shape's
// own coordinates (y down). Distances are exact near the outline, which is all that drawing needs; for
// ellipses they are a first-order estimate.

#include <functional>
#include <vector>

namespace maskfit::image {

struct Point {
  float x = 0, y = 0;
};

using Shape = std::function<float(Point)>;

Shape ellipse(Point center, float radius_x, float radius_y);
Shape rounded_box(Point center, float half_width, float half_height, float corner_radius);
// A closed polygon, convex or not.
Shape polygon(std::vector<Point> corners);
// An open line of the given width with round ends.
Shape stroke(std::vector<Point> points, float width);

Shape unite(Shape a, Shape b);
Shape intersect(Shape a, Shape b);
Shape subtract(Shape a, Shape b);  // a without b

// `count` + 1 points on the quadratic Bezier curve from `from` to `to`, drawn towards `via`.
std::vector<Point> curve(Point from, Point via, Point to, int count = 8);

}  // namespace maskfit::image
