#pragma once

// Paints anti-aliased shapes, for pictures that are made rather than taken.

#include <functional>
#include <vector>

#include "boxes/box.h"
#include "image/image.h"
#include "image/shapes.h"

namespace maskfit::image {

struct Rgb {
  float r = 0, g = 0, b = 0;  // 0..1; may leave the range until the picture is finished
};

Rgb operator*(Rgb color, float factor);
Rgb operator+(Rgb a, Rgb b);
Rgb mix(Rgb a, Rgb b, float share_b);
// Hue in turns (any number), saturation and value in 0..1.
Rgb rgb_from_hsv(float hue, float saturation, float value);

// Where shapes are drawn: a point p of the frame lies at origin + scale * (p turned clockwise by `turn`
// radians), in pixels.
struct Frame {
  Point origin;
  float scale = 1;
  float turn = 0;

  Point to_picture(Point in_frame) const;
  Point from_picture(Point in_picture) const;
};

// The box around an ellipse of a frame, in pixels: exact for any turn.
boxes::Box ellipse_box(const Frame& frame, Point center, float radius_x, float radius_y);

class Painter {
 public:
  // Colour of a place, in the coordinates of the frame that is painted in.
  using Shade = std::function<Rgb(Point)>;

  Painter(Size size, Rgb background);

  Size size() const { return size_; }
  Rgb& at(int x, int y) { return pixels_[static_cast<std::size_t>(y) * size_.width + x]; }

  // Paints the inside of `shape`, edges blended over one pixel. `reach` bounds the shape: nothing of it lies
  // farther from `center` (both in the frame).
  void fill(const Frame& frame, Point center, float reach, const Shape& shape, const Shade& shade,
            float opacity = 1);
  void fill(const Frame& frame, Point center, float reach, const Shape& shape, Rgb color, float opacity = 1);

  // Cuts to 0..1 and rounds to 8 bits.
  Image picture() const;

 private:
  Size size_;
  std::vector<Rgb> pixels_;  // [height][width]
};

}  // namespace maskfit::image
