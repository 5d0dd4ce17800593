#include "dataset/synthetic_scene.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dataset/synthetic_head.h"

namespace maskfit::dataset::synthetic {
namespace {

using image::ellipse;
using image::Frame;
using image::Painter;
using image::Point;
using image::Rgb;
using image::rounded_box;
using image::stroke;

// Never two draws among the arguments of one call: C++ leaves their order to the compiler, and a picture
// would depend on it.

constexpr Frame kPixels;  // the frame whose units are pixels

float width_of(const Painter& painter) {
  return static_cast<float>(painter.size().width);
}
float height_of(const Painter& painter) {
  return static_cast<float>(painter.size().height);
}

Rgb muted(base::Rng& rng, float low, float high) {
  const float hue = rng.uniform(), saturation = rng.uniform(0.05f, 0.4f);
  return image::rgb_from_hsv(hue, saturation, rng.uniform(low, high));
}

Rgb bright(base::Rng& rng) {
  const float hue = rng.uniform(), saturation = rng.uniform(0.4f, 0.95f);
  return image::rgb_from_hsv(hue, saturation, rng.uniform(0.4f, 1));
}

void fill_box(Painter& painter, float x1, float y1, float x2, float y2, Rgb color, float radius = 0,
              float opacity = 1) {
  const Point center{(x1 + x2) / 2, (y1 + y2) / 2};
  const float half_width = (x2 - x1) / 2, half_height = (y2 - y1) / 2;
  painter.fill(kPixels, center, std::hypot(half_width, half_height),
               rounded_box(center, half_width, half_height, radius), color, opacity);
}

void vertical_gradient(Painter& painter, Rgb top, Rgb bottom, float y1, float y2) {
  for (int y = std::max(0, static_cast<int>(y1)); y < std::min(painter.size().height, static_cast<int>(y2));
       ++y) {
    const Rgb color = mix(top, bottom, (static_cast<float>(y) - y1) / (y2 - y1));
    for (int x = 0; x < painter.size().width; ++x) painter.at(x, y) = color;
  }
}

void paint_room(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter), floor = h * rng.uniform(0.65f, 0.9f);
  const Rgb wall = muted(rng, 0.5f, 0.95f);
  vertical_gradient(painter, wall, wall * rng.uniform(0.75f, 1), 0, floor);
  const Rgb far = muted(rng, 0.3f, 0.6f), near = muted(rng, 0.2f, 0.5f);
  vertical_gradient(painter, far, near, floor, h);
  fill_box(painter, 0, floor - 4, w, floor, wall * 0.6f);
  for (int i = static_cast<int>(rng.uniform_int(1, 3)); i > 0; --i) {  // windows and posters
    const float x = rng.uniform(0, w), y = rng.uniform(0.05f, 0.35f) * h;
    const float pw = rng.uniform(0.1f, 0.25f) * w, ph = rng.uniform(0.15f, 0.4f) * h;
    fill_box(painter, x - 3, y - 3, x + pw + 3, y + ph + 3, muted(rng, 0.1f, 0.9f));
    const Rgb upper = bright(rng), lower = bright(rng);
    fill_box(painter, x, y, x + pw, y + ph, upper);
    fill_box(painter, x, y + ph * rng.uniform(0.3f, 0.8f), x + pw, y + ph, lower);
  }
}

void paint_street(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter), ground = h * rng.uniform(0.7f, 0.9f);
  vertical_gradient(painter, {.45f, .65f, .9f}, muted(rng, 0.75f, 1), 0, ground);
  for (float x = -10; x < w;) {
    const float house = rng.uniform(0.1f, 0.25f) * w, roof = rng.uniform(0.05f, 0.5f) * h;
    const Rgb wall = muted(rng, 0.35f, 0.85f), glass = mix(wall, {.2f, .25f, .35f}, 0.7f);
    fill_box(painter, x, roof, x + house, ground, wall);
    for (float wy = roof + 8; wy + 8 < ground; wy += 17) {
      for (float wx = x + 6; wx + 8 < x + house; wx += 14) fill_box(painter, wx, wy, wx + 7, wy + 9, glass);
    }
    x += house;
  }
  const Rgb far = muted(rng, 0.4f, 0.6f), near = muted(rng, 0.25f, 0.5f);
  vertical_gradient(painter, far, near, ground, h);
}

void paint_landscape(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter);
  const Rgb zenith{rng.uniform(.3f, .6f), rng.uniform(.55f, .75f), .95f};
  vertical_gradient(painter, zenith, {.95f, rng.uniform(.75f, .95f), .8f}, 0, h);
  const Point sun{rng.uniform(0, w), rng.uniform(0.05f, 0.4f) * h};
  painter.fill(kPixels, sun, 0.1f * h, ellipse(sun, 0.09f * h, 0.09f * h), Rgb{1, .95f, .7f});
  for (int layer = 0; layer < 3; ++layer) {
    const Rgb green =
        image::rgb_from_hsv(rng.uniform(0.22f, 0.42f), 0.5f, 0.65f - 0.13f * static_cast<float>(layer));
    for (int i = 0; i < 3; ++i) {
      const float depth = static_cast<float>(layer), rx = rng.uniform(0.3f, 0.6f) * w,
                  ry = rng.uniform(0.2f, 0.4f) * h;
      const Point hill{rng.uniform(-0.1f, 1.1f) * w, (0.75f + 0.15f * depth) * h + ry * 0.6f};
      painter.fill(kPixels, hill, std::max(rx, ry), ellipse(hill, rx, ry), green);
    }
  }
}

void paint_lights(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter);
  const Rgb top = muted(rng, 0.1f, 0.35f), bottom = muted(rng, 0.05f, 0.3f);
  vertical_gradient(painter, top, bottom, 0, h);
  for (int i = 0; i < 26; ++i) {
    const Point at{rng.uniform(0, w), rng.uniform(0, h)};
    const float radius = rng.uniform(0.02f, 0.12f) * h;
    const Rgb color = bright(rng);
    painter.fill(kPixels, at, radius, ellipse(at, radius, radius), color, rng.uniform(0.1f, 0.5f));
  }
}

void paint_tiles(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter), size = rng.uniform(14, 40);
  const Rgb base = muted(rng, 0.4f, 0.95f);
  for (float y = 0; y < h; y += size) {
    for (float x = 0; x < w; x += size) {
      fill_box(painter, x, y, x + size - 1.5f, y + size - 1.5f, base * rng.uniform(0.86f, 1.08f));
    }
  }
}

void paint_shelves(base::Rng& rng, Painter& painter) {
  const float w = width_of(painter), h = height_of(painter), step = rng.uniform(0.22f, 0.34f) * h;
  const float hue = rng.uniform(0.05f, 0.1f);
  const Rgb wood = image::rgb_from_hsv(hue, 0.5f, rng.uniform(0.25f, 0.6f));
  vertical_gradient(painter, wood * 0.5f, wood * 0.4f, 0, h);
  for (float y = step; y < h + step; y += step) {
    for (float x = 2; x < w;) {
      const float thing = rng.uniform(0.02f, 0.08f) * w, tall = rng.uniform(0.4f, 0.85f) * step;
      fill_box(painter, x, y - tall, x + thing - 1, y, bright(rng), 2);
      x += thing;
    }
    fill_box(painter, 0, y, w, y + 5, wood);
  }
}

// Sums of waves in random directions: soft clouds of two colours.
void paint_clouds(base::Rng& rng, Painter& painter) {
  const Rgb a = muted(rng, 0.3f, 0.9f), b = bright(rng);
  float kx[5], ky[5], phase[5];
  for (int i = 0; i < 5; ++i) {
    kx[i] = rng.uniform(-0.08f, 0.08f), ky[i] = rng.uniform(-0.08f, 0.08f), phase[i] = rng.uniform(0, 6.28f);
  }
  for (int y = 0; y < painter.size().height; ++y) {
    for (int x = 0; x < painter.size().width; ++x) {
      float sum = 0;
      for (int i = 0; i < 5; ++i)
        sum += std::sin(kx[i] * static_cast<float>(x) + ky[i] * static_cast<float>(y) + phase[i]);
      painter.at(x, y) = mix(a, b, 0.5f + 0.1f * sum);
    }
  }
}

void paint_ball(base::Rng& rng, Painter& painter, Point at, float radius) {
  const Rgb color = bright(rng), second = bright(rng);
  const bool striped = rng.bernoulli(0.5f);
  const Frame frame{at, radius, rng.uniform(0, 3)};
  painter.fill(frame, {0, 0}, 1, ellipse({0, 0}, 1, 1), [&](Point p) {
    return (striped && std::abs(p.y) < 0.35f ? second : color) * (1.05f - 0.35f * (p.x * p.x + p.y * p.y));
  });
}

void paint_balloon(base::Rng& rng, Painter& painter, Point at, float radius) {
  const Rgb color = bright(rng);
  const Frame frame{at, radius, rng.uniform(-0.2f, 0.2f)};
  painter.fill(frame, {0, 2}, 2, stroke(image::curve({0, 1.2f}, {0.2f, 2.2f}, {-0.1f, 3.4f}), 0.05f),
               Rgb{.9f, .9f, .9f});
  painter.fill(frame, {0, 0}, 1.3f, ellipse({0, 0}, 1, 1.25f),
               [&](Point p) { return color * (1.05f - 0.3f * (p.x * p.x + p.y * p.y)); });
  painter.fill(frame, {0, 0}, 1.3f, ellipse({-0.35f, -0.5f}, 0.15f, 0.25f), Rgb{1, 1, 1}, 0.6f);
}

void paint_plant(base::Rng& rng, Painter& painter, Point at, float radius) {
  const float hue = rng.uniform(0.25f, 0.42f);
  const Rgb green = image::rgb_from_hsv(hue, 0.6f, rng.uniform(0.3f, 0.65f));
  for (int i = 0; i < 9; ++i) {
    const Frame leaf{at, radius, -2.6f + 0.26f * static_cast<float>(i) + rng.uniform(-0.1f, 0.1f)};
    painter.fill(leaf, {0.7f, 0}, 0.8f, ellipse({0.7f, 0}, 0.7f, 0.16f), green * rng.uniform(0.8f, 1.2f));
  }
  fill_box(painter, at.x - 0.45f * radius, at.y, at.x + 0.45f * radius, at.y + 0.8f * radius,
           muted(rng, 0.4f, 0.8f), 3);
}

void paint_sign(base::Rng& rng, Painter& painter, Point at, float radius) {
  fill_box(painter, at.x - radius, at.y - 0.6f * radius, at.x + radius, at.y + 0.6f * radius, bright(rng),
           radius * 0.15f);
  for (int i = 0; i < 3; ++i) {
    const float y = at.y + (0.28f * static_cast<float>(i) - 0.32f) * radius;
    fill_box(painter, at.x - 0.75f * radius, y, at.x + rng.uniform(0, 0.75f) * radius, y + 0.13f * radius,
             Rgb{.97f, .97f, .95f});
  }
}

void soften(Painter& painter) {
  const image::Size size = painter.size();
  for (int y = 0; y < size.height; ++y) {
    Rgb left = painter.at(0, y);
    for (int x = 0; x < size.width; ++x) {
      const Rgb here = painter.at(x, y), right = painter.at(std::min(x + 1, size.width - 1), y);
      painter.at(x, y) = left * 0.25f + here * 0.5f + right * 0.25f;
      left = here;
    }
  }
  for (int x = 0; x < size.width; ++x) {
    Rgb above = painter.at(x, 0);
    for (int y = 0; y < size.height; ++y) {
      const Rgb here = painter.at(x, y), below = painter.at(x, std::min(y + 1, size.height - 1));
      painter.at(x, y) = above * 0.25f + here * 0.5f + below * 0.25f;
      above = here;
    }
  }
}

}  // namespace

Painter paint_background(base::Rng& rng, image::Size size) {
  Painter painter(size, {.5f, .5f, .5f});
  constexpr void (*kScenes[])(base::Rng&, Painter&) = {
      paint_room, paint_street, paint_landscape, paint_lights, paint_tiles, paint_shelves, paint_clouds};
  kScenes[rng.uniform_int(0, std::size(kScenes) - 1)](rng, painter);
  return painter;
}

void paint_distractor(base::Rng& rng, Painter& painter) {
  const float h = height_of(painter);
  const Point at{rng.uniform(0, width_of(painter)), rng.uniform(0, h)};
  const float radius = rng.uniform(0.05f, 0.2f) * h;
  switch (rng.uniform_int(0, 5)) {
    case 0:
      return paint_ball(rng, painter, at, radius);
    case 1:
      return paint_balloon(rng, painter, at, radius);
    case 2: {
      const Rgb color = bright(rng);
      const float right = at.x + radius * rng.uniform(0.3f, 1.5f);
      return fill_box(painter, at.x - radius, at.y - radius, right, at.y + radius, color,
                      rng.uniform(0, radius * 0.4f));
    }
    case 3:
      return paint_sign(rng, painter, at, radius);
    case 4:
      return paint_plant(rng, painter, at, radius);
    default: {
      Head hanger = draw_head(rng, radius * 0.7f, true, 0, 0.6f, 0.2f);
      hanger.frame.origin = at;
      return paint_mask(painter, hanger);
    }
  }
}

void paint_occluder(base::Rng& rng, Painter& painter, const boxes::Box& face) {
  const float side = rng.bernoulli(0.5f) ? 1.0f : -1.0f, radius = 0.24f * face.width();
  const Point at{(face.x1 + face.x2) / 2 + side * 0.56f * face.width(),
                 face.y1 + rng.uniform(0.55f, 1.05f) * face.height()};
  const Rgb color = bright(rng);
  if (rng.bernoulli(0.5f)) {  // a cup
    fill_box(painter, at.x - radius, at.y - radius, at.x + radius, at.y + 1.6f * radius, color,
             radius * 0.25f);
    fill_box(painter, at.x - radius, at.y - radius, at.x + radius, at.y - 0.7f * radius,
             Rgb{.96f, .96f, .94f}, radius * 0.1f);
  } else {
    paint_balloon(rng, painter, at, radius);
  }
}

void finish(base::Rng& rng, Painter& painter, const Finish& options) {
  if (rng.bernoulli(0.4f)) soften(painter);
  const float exposure = 1 + rng.uniform(-options.light_range, options.light_range),
              warmth = rng.uniform(-0.08f, 0.08f);
  const float vignette = rng.uniform(0, 0.35f), noise = rng.uniform(0, options.noise);
  const float w = width_of(painter), h = height_of(painter);
  for (int y = 0; y < painter.size().height; ++y) {
    for (int x = 0; x < painter.size().width; ++x) {
      const float u = 2 * static_cast<float>(x) / w - 1, v = 2 * static_cast<float>(y) / h - 1;
      const float light = exposure * (1 - vignette * 0.5f * (u * u + v * v));
      Rgb& pixel = painter.at(x, y);
      const auto grain = [&] { return noise * (rng.uniform() + rng.uniform() - 1); };
      pixel = Rgb{pixel.r * (1 + warmth), pixel.g, pixel.b * (1 - warmth)} * light +
              Rgb{grain(), grain(), grain()};
    }
  }
}

}  // namespace maskfit::dataset::synthetic
