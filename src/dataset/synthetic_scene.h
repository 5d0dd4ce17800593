#pragma once

// What is around the people, private to the synthetic dataset.

#include "base/rng.h"
#include "image/painter.h"

namespace maskfit::dataset::synthetic {

// A room, a street, a landscape, lights in the dark, a tiled wall, shelves, or clouds of colour.
image::Painter paint_background(base::Rng& rng, image::Size size);

// A ball, a balloon, a box, a sign, a plant, or a mask that nobody wears; somewhere.
void paint_distractor(base::Rng& rng, image::Painter& painter);

// Something small in front of the lower or side edge of a face.
void paint_occluder(base::Rng& rng, image::Painter& painter, const boxes::Box& face_box);

struct Finish {
  float noise = 0;        // largest amplitude, full scale
  float light_range = 0;  // exposure 1 +- up to this
};
// Exposure, colour of the light, vignette, softness and noise.
void finish(base::Rng& rng, image::Painter& painter, const Finish& options);

}  // namespace maskfit::dataset::synthetic
