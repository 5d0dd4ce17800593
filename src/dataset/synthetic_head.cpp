#include "dataset/synthetic_head.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace maskfit::dataset::synthetic {
namespace {

using image::curve;
using image::ellipse;
using image::Painter;
using image::Point;
using image::polygon;
using image::Rgb;
using image::rounded_box;
using image::Shape;
using image::stroke;

constexpr std::array<Rgb, 9> kSkins{{{.99f, .87f, .77f},
                                     {.97f, .82f, .69f},
                                     {.95f, .77f, .62f},
                                     {.89f, .69f, .52f},
                                     {.80f, .58f, .41f},
                                     {.69f, .47f, .32f},
                                     {.55f, .36f, .24f},
                                     {.43f, .28f, .19f},
                                     {.33f, .21f, .15f}}};
constexpr std::array<Rgb, 9> kHairs{{{.09f, .08f, .09f},
                                     {.17f, .11f, .08f},
                                     {.29f, .18f, .11f},
                                     {.45f, .27f, .14f},
                                     {.58f, .30f, .16f},
                                     {.83f, .66f, .38f},
                                     {.62f, .60f, .58f},
                                     {.88f, .86f, .83f},
                                     {.55f, .25f, .60f}}};
constexpr std::array<Rgb, 5> kEyes{
    {{.25f, .15f, .08f}, {.40f, .26f, .13f}, {.28f, .45f, .65f}, {.35f, .50f, .30f}, {.15f, .11f, .10f}}};
constexpr std::array<Rgb, 6> kSurgicalColors{{{.62f, .82f, .90f},
                                              {.75f, .89f, .93f},
                                              {.95f, .96f, .97f},
                                              {.97f, .80f, .85f},
                                              {.70f, .88f, .76f},
                                              {.14f, .14f, .16f}}};
constexpr Rgb kWhite{1, 1, 1}, kInk{.12f, .09f, .09f};

template <std::size_t N>
Rgb pick(base::Rng& rng, const std::array<Rgb, N>& colors) {
  return colors[static_cast<std::size_t>(rng.uniform_int(0, N - 1))];
}

// Where a feature of the front view lies on a turned head.
Point on_face(const Head& head, float x, float y) {
  return {x * (1 - 0.22f * std::abs(head.yaw)) + 0.42f * head.yaw, y + 0.14f * head.pitch};
}

// Light from one side, and a darker rim: what makes an ellipse a head.
Painter::Shade shaded(const Head& head, Rgb color, float strength = 1) {
  return [=, height = head.face_height, light = head.light](Point p) {
    const float x = p.x, y = p.y / height;
    const float radius = std::min(x * x + y * y, 1.3f);  // squared; parts far from the face get no darker
    return color * (1.03f + strength * (0.14f * (x * light.x + y * light.y) - 0.16f * radius * radius));
  };
}

Shape face_shape(const Head& head, float grow = 1) {
  return ellipse({0, 0}, grow, head.face_height * grow);
}

void paint_shoulders(Painter& painter, const Head& head) {
  image::Frame frame = head.frame;
  frame.turn *= 0.25f;  // the body follows a tilted head only a little
  const float chin = head.face_height;
  const Rgb neck = head.skin * 0.86f;
  // The body goes down to the picture's lower edge, wherever that is.
  const Shape body =
      image::unite(ellipse({0, chin + 1.75f}, 2.05f, 1.35f), rounded_box({0, chin + 16.7f}, 2.05f, 15, 0));
  painter.fill(frame, {0, chin + 15}, 18, body, [&](Point p) {
    return head.clothes * (1.05f - 0.10f * std::abs(p.x) + 0.06f * p.x * head.light.x);
  });
  painter.fill(frame, {0, chin + 0.1f}, 1, rounded_box({0, chin + 0.05f}, 0.46f, 0.55f, 0.2f), neck);
  painter.fill(frame, {0, chin + 0.5f}, 1, ellipse({0, chin + 0.5f}, 0.6f, 0.26f), neck);
  if (head.mask_pattern % 2 == 1) {  // a collar on some clothes
    painter.fill(frame, {0, chin + 0.7f}, 1.2f,
                 stroke(curve({-0.75f, chin + 0.45f}, {0, chin + 1.15f}, {0.75f, chin + 0.45f}), 0.16f),
                 head.accent);
  }
}

void paint_back_hair(Painter& painter, const Head& head) {
  const float h = head.face_height;
  const auto shade = shaded(head, head.hair_color * 0.85f);
  if (head.hair == Hair::kLong) {
    painter.fill(
        head.frame, {0, 0.3f}, 2.3f,
        image::unite(ellipse({0, -0.08f}, 1.22f, h * 1.10f), rounded_box({0, 0.6f}, 1.20f, h * 0.95f, 0.45f)),
        shade);
  }
  if (head.hair == Hair::kBun)
    painter.fill(head.frame, {0, -h - 0.2f}, 1, ellipse({0, -h - 0.15f}, 0.42f, 0.4f), shade);
  if (head.hair == Hair::kCurly) {
    for (int i = 0; i < 14; ++i) {
      const float angle = 3.3f + 2.85f * static_cast<float>(i) / 13 - 0.15f;
      const Point at{1.05f * std::cos(angle), h * 0.98f * std::sin(angle) + 0.05f};
      painter.fill(head.frame, at, 0.5f, ellipse(at, 0.34f, 0.34f), shade);
    }
  }
  if (head.hair == Hair::kScarf) {
    painter.fill(head.frame, {0, 0.4f}, 2.6f,
                 image::unite(ellipse({0, -0.02f}, 1.24f, h * 1.14f), ellipse({0, h * 0.95f}, 1.15f, 0.7f)),
                 shaded(head, head.accent * 0.92f));
  }
}

void paint_ears(Painter& painter, const Head& head) {
  if (head.hair == Hair::kLong || head.hair == Hair::kScarf) return;
  for (const float side : {-1.0f, 1.0f}) {
    if (side * head.yaw > 0.25f) continue;  // turned away
    const Point at{side * 1.0f, 0.08f + 0.1f * head.pitch};
    painter.fill(head.frame, at, 0.4f, ellipse(at, 0.2f, 0.29f), head.skin * 0.93f);
    painter.fill(head.frame, at, 0.4f, ellipse(at, 0.1f, 0.17f), head.skin * 0.80f);
  }
}

void paint_eye(Painter& painter, const Head& head, float side) {
  const Point at = on_face(head, side * 0.42f, -0.12f);
  const Point brow_in = on_face(head, side * 0.20f, -0.40f), brow_out = on_face(head, side * 0.68f, -0.38f);
  painter.fill(head.frame, at, 0.7f,
               stroke(curve(brow_in, on_face(head, side * 0.45f, -0.52f), brow_out), 0.10f),
               mix(head.hair_color, kInk, 0.45f));
  if (head.eyes_closed) {
    painter.fill(head.frame, at, 0.4f,
                 stroke(curve({at.x - 0.19f, at.y}, {at.x, at.y + 0.14f}, {at.x + 0.19f, at.y}), 0.06f),
                 kInk);
    return;
  }
  const Shape lids = ellipse(at, 0.22f, 0.135f);
  painter.fill(head.frame, at, 0.4f, ellipse({at.x, at.y - 0.03f}, 0.25f, 0.155f), head.skin * 0.72f);
  painter.fill(head.frame, at, 0.4f, lids, Rgb{.97f, .97f, .96f});
  const Point iris{at.x + 0.05f * head.yaw, at.y + 0.02f};
  painter.fill(head.frame, at, 0.4f, image::intersect(lids, ellipse(iris, 0.115f, 0.125f)), head.eye_color);
  painter.fill(head.frame, at, 0.4f, image::intersect(lids, ellipse(iris, 0.055f, 0.06f)), kInk);
  painter.fill(head.frame, at, 0.4f, ellipse({iris.x - 0.04f, iris.y - 0.045f}, 0.03f, 0.03f), kWhite);
}

void paint_mouth(Painter& painter, const Head& head) {
  const Rgb lips = mix(head.skin, {.72f, .22f, .24f}, 0.55f);
  const float y = 0.66f;
  const Point left = on_face(head, -0.32f, y), right = on_face(head, 0.32f, y), middle = on_face(head, 0, y);
  if (head.mouth == 2) {
    painter.fill(head.frame, middle, 0.5f, ellipse({middle.x, middle.y + 0.02f}, 0.27f, 0.17f),
                 Rgb{.42f, .12f, .13f});
    painter.fill(head.frame, middle, 0.5f,
                 image::intersect(ellipse({middle.x, middle.y + 0.02f}, 0.25f, 0.15f),
                                  rounded_box({middle.x, middle.y - 0.1f}, 0.3f, 0.09f, 0.02f)),
                 kWhite);
    return;
  }
  const float dip = head.mouth == 0 ? 0.22f : 0.03f;
  painter.fill(head.frame, middle, 0.6f, stroke(curve(left, {middle.x, middle.y + dip}, right), 0.09f), lips);
}

void paint_features(Painter& painter, const Head& head) {
  for (const float side : {-1.0f, 1.0f}) {
    const Point cheek = on_face(head, side * 0.58f, 0.32f);
    painter.fill(head.frame, cheek, 0.4f, ellipse(cheek, 0.22f, 0.16f), Rgb{.93f, .45f, .42f}, 0.18f);
    paint_eye(painter, head, side);
  }
  if (head.beard) {
    const Point chin = on_face(head, 0, 0.75f);
    const Shape jaw = image::intersect(face_shape(head), rounded_box({chin.x, 1.0f}, 1.2f, 0.72f, 0.35f));
    painter.fill(head.frame, {0, 0.7f}, 1.6f, image::subtract(jaw, ellipse({chin.x, 0.2f}, 0.62f, 0.42f)),
                 shaded(head, head.hair_color));
  }
  const Point tip = on_face(head, 0.10f * head.yaw, 0.30f), bridge = on_face(head, 0, -0.08f);
  const float side = head.yaw >= 0 ? 1.0f : -1.0f;
  painter.fill(
      head.frame, tip, 0.7f,
      stroke(curve(bridge, {tip.x + side * 0.14f, tip.y - 0.02f}, {tip.x - side * 0.04f, tip.y + 0.06f}),
             0.055f),
      head.skin * 0.74f);
  paint_mouth(painter, head);
}

void paint_glasses(Painter& painter, const Head& head) {
  const Rgb frame_color = head.accent * 0.35f;
  for (const float side : {-1.0f, 1.0f}) {
    const Point at = on_face(head, side * 0.43f, -0.10f);
    const Shape rim =
        image::subtract(rounded_box(at, 0.34f, 0.26f, 0.14f), rounded_box(at, 0.28f, 0.20f, 0.10f));
    painter.fill(head.frame, at, 0.5f, rounded_box(at, 0.3f, 0.22f, 0.1f), kWhite, 0.12f);
    painter.fill(head.frame, at, 0.5f, rim, frame_color);
    painter.fill(head.frame, at, 0.8f,
                 stroke({{at.x + side * 0.33f, at.y - 0.05f}, {side * 0.99f, -0.12f}}, 0.05f), frame_color);
  }
  painter.fill(head.frame, on_face(head, 0, -0.12f), 0.3f,
               stroke({on_face(head, -0.10f, -0.12f), on_face(head, 0.10f, -0.12f)}, 0.06f), frame_color);
}

// The hair seen in front: a cap around the skull with a window for the face.
void paint_front_hair(Painter& painter, const Head& head) {
  const float h = head.face_height;
  const auto shade = shaded(head, head.hair_color);
  const auto cap = [&](Shape window, float grow) {
    const Shape skull =
        image::intersect(ellipse({0, -0.04f}, grow, h * grow), rounded_box({0, -h}, 2, h + 0.25f, 0));
    painter.fill(head.frame, {0, -0.4f}, 1.9f, image::subtract(skull, std::move(window)), shade);
  };
  const float lean = 0.35f * head.yaw;
  switch (head.hair) {
    case Hair::kShort:
      return cap(ellipse({lean, 0.42f}, 0.98f, h * 0.94f), 1.07f);
    case Hair::kSidePart:
      return cap(ellipse({0.42f + lean, 0.42f}, 1.12f, h * 0.98f), 1.09f);
    case Hair::kFringe:
    case Hair::kLong:
      return cap(rounded_box({lean, 0.62f}, 0.90f, h * 0.78f, 0.32f), 1.10f);
    case Hair::kCurly:
      return cap(ellipse({lean, 0.5f}, 0.92f, h * 0.92f), 1.10f);
    case Hair::kBun:
      return cap(ellipse({lean, 0.40f}, 1.0f, h * 0.98f), 1.05f);
    case Hair::kCap:
      painter.fill(head.frame, {0, -h}, 2,
                   image::intersect(ellipse({0, -0.1f}, 1.12f, h * 1.08f),
                                    rounded_box({0, -h - 0.35f}, 2, h * 0.92f, 0)),
                   shaded(head, head.accent));
      painter.fill(
          head.frame, {0.3f * head.yaw, -0.42f}, 2,
          stroke(curve({-1.0f + head.yaw, -0.5f}, {head.yaw, -0.72f}, {1.0f + head.yaw, -0.5f}), 0.2f),
          head.accent * 0.75f);
      return;
    case Hair::kScarf: {
      const Shape hood = image::subtract(ellipse({0, -0.02f}, 1.18f, h * 1.1f),
                                         ellipse({lean * 0.5f, 0.12f}, 0.90f, h * 0.93f));
      painter.fill(head.frame, {0, 0}, 2, hood, shaded(head, head.accent));
      return;
    }
    case Hair::kBald:
      return;
  }
}

Rgb cloth_color(const Head& head, Point p) {
  const auto wave = [](float x) { return std::sin(x * 9) > 0; };
  const bool second = head.mask_pattern == 1
                          ? std::hypot(std::remainder(p.x, 0.4f), std::remainder(p.y, 0.4f)) < 0.11f
                      : head.mask_pattern == 2 ? wave(p.y * 1.2f)
                      : head.mask_pattern == 3 ? wave(p.x) != wave(p.y)
                                               : false;
  return second ? head.accent : head.mask_color;
}

// The outline of a worn mask: over the nose, along the cheeks, under the chin.
Shape mask_outline(const Head& head, float drop) {
  const float h = head.face_height, top = drop - (head.mask == Mask::kRespirator ? 0.06f : 0.0f);
  const float nose = 0.42f * head.yaw, p = 0.14f * head.pitch;
  const Shape flat = polygon({{-1.2f, 0.30f + top},
                              {-0.55f + nose, 0.17f + top + p},
                              {-0.16f + nose, 0.0f + top + p},
                              {0.16f + nose, 0.0f + top + p},
                              {0.55f + nose, 0.17f + top + p},
                              {1.2f, 0.30f + top},
                              {1.2f, 0.72f * h + drop},
                              {0.5f + nose, 1.06f * h + drop},
                              {-0.5f + nose, 1.06f * h + drop},
                              {-1.2f, 0.72f * h + drop}});
  return image::intersect(ellipse({0.03f * head.yaw, drop}, 1.02f, h * 1.04f), flat);
}

void paint_loops(Painter& painter, const Head& head, float drop) {
  for (const float side : {-1.0f, 1.0f}) {
    if (side * head.yaw > 0.3f) continue;
    const Rgb band = mix(head.mask_color, kWhite, 0.5f) * 0.92f;
    painter.fill(head.frame, {side, 0.2f}, 0.9f,
                 stroke({{side * 0.90f, 0.36f + drop}, {side * 1.06f, 0.0f}}, 0.055f), band);
    painter.fill(head.frame, {side, 0.4f}, 0.9f,
                 stroke({{side * 0.86f, 0.78f + drop}, {side * 1.06f, 0.26f}}, 0.055f), band);
  }
}

// Pleats, seams and folds.
void paint_mask_details(Painter& painter, const Head& head, const Shape& outline, float drop) {
  const float nose = 0.42f * head.yaw;
  const auto line = [&](std::vector<Point> points, float width, Rgb color) {
    painter.fill(head.frame, {0, 0.5f}, 1.7f, image::intersect(outline, stroke(std::move(points), width)),
                 color);
  };
  if (head.mask == Mask::kSurgical || head.mask == Mask::kUnderChin) {
    for (int i = 0; i < 3; ++i) {
      const float y = 0.36f + 0.22f * static_cast<float>(i) + drop;
      line(curve({-1.1f, y}, {nose, y + 0.16f}, {1.1f, y}), 0.045f, head.mask_color * 0.84f);
    }
  }
  if (head.mask == Mask::kRespirator) {
    line({{nose, -0.1f}, {nose * 1.3f, 1.5f}}, 0.05f, head.mask_color * 0.82f);
    line(curve({-1.1f, 0.2f}, {nose, 0.75f}, {1.1f, 0.2f}), 0.035f, head.mask_color * 0.88f);
  }
  line({{-0.3f + nose, 0.10f + drop}, {nose, 0.04f + drop}, {0.3f + nose, 0.10f + drop}}, 0.05f,
       mix(head.mask_color, kWhite, 0.45f));
}

float mask_drop(const Head& head) {
  return head.mask == Mask::kUnderChin ? 0.80f * head.face_height : 0;
}

void paint_worn_mask(Painter& painter, const Head& head) {
  const float drop = mask_drop(head);
  const Shape outline = mask_outline(head, drop);
  paint_loops(painter, head, drop);
  const auto light = shaded(head, {1, 1, 1}, 0.9f);
  painter.fill(head.frame, {0, 0.6f + drop}, 1.9f, outline, [&](Point p) {
    const Rgb color = head.mask == Mask::kCloth ? cloth_color(head, p) : head.mask_color;
    return color * light({p.x, p.y - drop}).r;
  });
  paint_mask_details(painter, head, outline, drop);
}

Rgb lively(base::Rng& rng) {
  const float hue = rng.uniform(), saturation = rng.uniform(0.25f, 0.85f);
  return image::rgb_from_hsv(hue, saturation, rng.uniform(0.35f, 0.95f));
}

Mask draw_mask(base::Rng& rng, bool masked, float chin_mask_share) {
  const float kind = rng.uniform();
  if (!masked) return kind < chin_mask_share ? Mask::kUnderChin : Mask::kNone;
  return kind < 0.55f ? Mask::kSurgical : kind < 0.82f ? Mask::kCloth : Mask::kRespirator;
}

}  // namespace

Head draw_head(base::Rng& rng, float scale, bool masked, float chin_mask_share, float max_turn,
               float max_yaw) {
  Head head;
  head.frame.scale = scale;
  head.frame.turn = rng.uniform(-max_turn, max_turn);
  head.face_height = rng.uniform(1.18f, 1.36f);
  head.yaw = rng.uniform(-max_yaw, max_yaw);
  head.pitch = rng.uniform(-0.6f, 0.6f);
  head.light = {rng.uniform(-1, 1), rng.uniform(-1, 0.2f)};
  head.skin = pick(rng, kSkins);
  head.hair_color = pick(rng, kHairs);
  head.eye_color = pick(rng, kEyes);
  head.clothes = lively(rng);
  head.accent = lively(rng);
  head.hair = static_cast<Hair>(rng.uniform_int(0, static_cast<int>(Hair::kScarf)));
  head.mask = draw_mask(rng, masked, chin_mask_share);
  head.mask_pattern = static_cast<int>(rng.uniform_int(0, 3));
  const Rgb surgical = pick(rng, kSurgicalColors), cloth = lively(rng);
  const Rgb respirator = rng.bernoulli(0.8f) ? Rgb{.96f, .96f, .95f} : Rgb{.15f, .15f, .17f};
  head.mask_color = head.mask == Mask::kCloth        ? cloth
                    : head.mask == Mask::kRespirator ? respirator
                                                     : surgical;
  head.glasses = rng.bernoulli(0.22f);
  head.beard = rng.bernoulli(0.22f) && head.hair != Hair::kLong && head.hair != Hair::kBun &&
               head.hair != Hair::kScarf;
  head.eyes_closed = rng.bernoulli(0.08f);
  head.mouth = static_cast<int>(rng.uniform_int(0, 2));
  return head;
}

boxes::Box face_box(const Head& head) {
  return image::ellipse_box(head.frame, {0, 0}, 1, head.face_height);
}

void paint_head(Painter& painter, const Head& head) {
  paint_back_hair(painter, head);
  paint_shoulders(painter, head);
  paint_ears(painter, head);
  painter.fill(head.frame, {0, 0}, 1.5f, face_shape(head), shaded(head, head.skin));
  paint_features(painter, head);
  if (head.mask != Mask::kNone) paint_worn_mask(painter, head);
  if (head.glasses) paint_glasses(painter, head);
  paint_front_hair(painter, head);
}

void paint_mask(Painter& painter, const Head& head) {
  paint_worn_mask(painter, head);
}

}  // namespace maskfit::dataset::synthetic
