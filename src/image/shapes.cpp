#include "image/shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace maskfit::image {
namespace {

float squared(float x) {
  return x * x;
}

// Squared distance from p to the segment a b.
float segment_distance_squared(Point p, Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length_squared = dx * dx + dy * dy;
  const float along = length_squared > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length_squared : 0;
  const float t = std::clamp(along, 0.0f, 1.0f);
  return squared(p.x - a.x - t * dx) + squared(p.y - a.y - t * dy);
}

}  // namespace

Shape ellipse(Point center, float radius_x, float radius_y) {
  return [=](Point p) {
    const float x = (p.x - center.x) / radius_x, y = (p.y - center.y) / radius_y;
    const float level = std::hypot(x, y);
    const float slope = std::hypot(x / radius_x, y / radius_y);
    return slope > 0 ? level * (level - 1) / slope : -std::min(radius_x, radius_y);
  };
}

Shape rounded_box(Point center, float half_width, float half_height, float corner_radius) {
  return [=](Point p) {
    const float x = std::abs(p.x - center.x) - half_width + corner_radius;
    const float y = std::abs(p.y - center.y) - half_height + corner_radius;
    return std::hypot(std::max(x, 0.0f), std::max(y, 0.0f)) + std::min(std::max(x, y), 0.0f) - corner_radius;
  };
}

Shape polygon(std::vector<Point> corners) {
  return [corners = std::move(corners)](Point p) {
    float nearest = std::numeric_limits<float>::max();
    bool inside = false;  // a ray to the right crosses the outline an odd number of times
    for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
      const Point a = corners[i], b = corners[j];
      nearest = std::min(nearest, segment_distance_squared(p, a, b));
      if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)) inside = !inside;
    }
    return inside ? -std::sqrt(nearest) : std::sqrt(nearest);
  };
}

Shape stroke(std::vector<Point> points, float width) {
  return [points = std::move(points), width](Point p) {
    float nearest = std::numeric_limits<float>::max();
    for (std::size_t i = 1; i < points.size(); ++i) {
      nearest = std::min(nearest, segment_distance_squared(p, points[i - 1], points[i]));
    }
    return std::sqrt(nearest) - width / 2;
  };
}

Shape unite(Shape a, Shape b) {
  return [a = std::move(a), b = std::move(b)](Point p) { return std::min(a(p), b(p)); };
}

Shape intersect(Shape a, Shape b) {
  return [a = std::move(a), b = std::move(b)](Point p) { return std::max(a(p), b(p)); };
}

Shape subtract(Shape a, Shape b) {
  return [a = std::move(a), b = std::move(b)](Point p) { return std::max(a(p), -b(p)); };
}

std::vector<Point> curve(Point from, Point via, Point to, int count) {
  std::vector<Point> points;
  for (int i = 0; i <= count; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(count), u = 1 - t;
    points.push_back({u * u * from.x + 2 * u * t * via.x + t * t * to.x,
                      u * u * from.y + 2 * u * t * via.y + t * t * to.y});
  }
  return points;
}

}  // namespace maskfit::image
