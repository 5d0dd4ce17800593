#pragma once

// One drawn person, private to the synthetic dataset. In the head's own frame the face is an ellipse of
// half-width 1 around the origin, y downward.

#include "base/rng.h"
#include "image/painter.h"

namespace maskfit::dataset::synthetic {

enum class Mask { kNone, kSurgical, kCloth, kRespirator, kUnderChin };
enum class Hair { kBald, kShort, kSidePart, kFringe, kLong, kCurly, kBun, kCap, kScarf };

struct Head {
  image::Frame frame;         // scale = half the face's width, px
  float face_height = 1.25f;  // half the face's height over half its width
  float yaw = 0, pitch = 0;   // -1..1: where the nose points, right and down

  Mask mask = Mask::kNone;
  Hair hair = Hair::kShort;
  image::Rgb skin, hair_color, eye_color, clothes, mask_color, accent;
  image::Point light{-0.5f, -0.7f};  // where it comes from
  bool glasses = false, beard = false, eyes_closed = false;
  int mouth = 0;         // 0 smile, 1 neutral, 2 open
  int mask_pattern = 0;  // of cloth: 0 plain, 1 dots, 2 stripes, 3 checks
};

// Everything but the frame's origin. `scale` is half the face's width, px.
Head draw_head(base::Rng& rng, float scale, bool masked, float chin_mask_share, float max_turn,
               float max_yaw);

// The face's ellipse, px, not cut to any picture.
boxes::Box face_box(const Head& head);

void paint_head(image::Painter& painter, const Head& head);
// The mask alone, as if it hung on a wall.
void paint_mask(image::Painter& painter, const Head& head);

}  // namespace maskfit::dataset::synthetic
