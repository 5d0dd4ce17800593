#include "image/painter.h"

#include <algorithm>
#include <cmath>

namespace maskfit::image {
namespace {

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
}

}  // namespace

Rgb operator*(Rgb color, float factor) {
  return {color.r * factor, color.g * factor, color.b * factor};
}
Rgb operator+(Rgb a, Rgb b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}
Rgb mix(Rgb a, Rgb b, float share_b) {
  return a * (1 - share_b) + b * share_b;
}

Rgb rgb_from_hsv(float hue, float saturation, float value) {
  const auto channel = [&](float offset) {
    const float position = std::fmod((hue - std::floor(hue)) * 6 + offset, 6.0f);
    return value * (1 - saturation * std::clamp(std::min(position, 4 - position), 0.0f, 1.0f));
  };
  return {channel(5), channel(3), channel(1)};
}

Point Frame::to_picture(Point p) const {
  const float c = std::cos(turn), s = std::sin(turn);
  return {origin.x + scale * (c * p.x - s * p.y), origin.y + scale * (s * p.x + c * p.y)};
}

Point Frame::from_picture(Point p) const {
  const float c = std::cos(turn), s = std::sin(turn);
  const float x = (p.x - origin.x) / scale, y = (p.y - origin.y) / scale;
  return {c * x + s * y, -s * x + c * y};
}

boxes::Box ellipse_box(const Frame& frame, Point center, float radius_x, float radius_y) {
  const Point middle = frame.to_picture(center);
  const float c = std::cos(frame.turn), s = std::sin(frame.turn);
  const float half_width = frame.scale * std::hypot(radius_x * c, radius_y * s);
  const float half_height = frame.scale * std::hypot(radius_x * s, radius_y * c);
  return {middle.x - half_width, middle.y - half_height, middle.x + half_width, middle.y + half_height};
}

Painter::Painter(Size size, Rgb background)
    : size_(size), pixels_(static_cast<std::size_t>(size.width) * size.height, background) {}

void Painter::fill(const Frame& frame, Point center, float reach, const Shape& shape, const Shade& shade,
                   float opacity) {
  const Point middle = frame.to_picture(center);
  const float radius = reach * frame.scale + 1;
  const int x1 = std::max(0, static_cast<int>(std::floor(middle.x - radius)));
  const int y1 = std::max(0, static_cast<int>(std::floor(middle.y - radius)));
  const int x2 = std::min(size_.width, static_cast<int>(std::ceil(middle.x + radius)));
  const int y2 = std::min(size_.height, static_cast<int>(std::ceil(middle.y + radius)));
  for (int y = y1; y < y2; ++y) {
    for (int x = x1; x < x2; ++x) {
      const Point p = frame.from_picture({static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f});
      const float cover = std::clamp(0.5f - shape(p) * frame.scale, 0.0f, 1.0f) * opacity;
      if (cover > 0) at(x, y) = mix(at(x, y), shade(p), cover);
    }
  }
}

void Painter::fill(const Frame& frame, Point center, float reach, const Shape& shape, Rgb color,
                   float opacity) {
  fill(
      frame, center, reach, shape, [color](Point) { return color; }, opacity);
}

Image Painter::picture() const {
  Image image{size_.width, size_.height, 3, {}};
  image.pixels.reserve(pixels_.size() * 3);
  for (const Rgb& pixel : pixels_) {
    for (const float value : {pixel.r, pixel.g, pixel.b}) image.pixels.push_back(to_byte(value));
  }
  return image;
}

}  // namespace maskfit::image
