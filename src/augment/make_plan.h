#pragma once

// Draws what happens to one picture. Every number comes from base::Rng with (seed, epoch, draw), so a plan
// depends on nothing else: not on threads, ranks, order or a resume.

#include <cstdint>
#include <functional>

#include "augment/options.h"
#include "augment/plan.h"

namespace maskfit::augment {

struct PlanRequest {
  std::int64_t sample = 0;  // the picture, an index into the loader's list
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  // Which draw of the epoch: the sample's index where an epoch shows each sample once, the place in the epoch
  // where samples may repeat.
  std::uint64_t draw = 0;
  // Length of the loader's list, from which a mosaic takes its other pictures; 0: no mosaic.
  std::int64_t sample_count = 0;
  // Size of a picture on its canvas, without padding. Only free placement asks; the output's size by default.
  std::function<image::Size(std::int64_t sample)> content_size;
};

// A training plan for a canvas (resident picture) that starts at its top left corner; its size does not
// matter. The steps in order, w x h being the output's size; all draws are independent:
//   1 scale, 2 crop   as in plan_without_augmentation
//   3 flip            each way with its probability
//   4 translate       integers, uniform in [-int(max), int(max)]
//   5 zoom            r ~ U[zoom_min, zoom_max), divided by exp(scale jitter), and by the root of exp(aspect
//                     jitter) along x, multiplied along y; a shrunk scene is put anywhere inside the output,
//                     an enlarged one anywhere around it, uniformly
//   6 rotate          with its probability, angle ~ U[-rotate_max, rotate_max), about the output's centre
//   colours           (3 channels) K = contrast * hue_saturation * brightness, with
//                     contrast k ~ N(0, contrast_max / 2), hue ~ N(0, hue_max / 2) and
//                     brightness ~ N(0, brightness_stddev), redrawn beyond two sigmas, and
//                     saturation 1 + U[-saturation_max, saturation_max)
// With free_placement steps 1 to 6 give way to one draw: scale (log-uniform), aspect, mirror, angle, and the
// place: uniform over all at which the picture lies inside the output or covers it; what is left is grey.
// With mosaic_probability the picture becomes the first of four, see mosaic_plan.
Plan make_plan(const Options& options, const PlanRequest& request);

// For validation: scale and crop only.
Plan plan_without_augmentation(const Options& options, std::int64_t sample);

// Four pictures around a point drawn from the middle 40 % of the output: the requested one at the top left,
// three others drawn with Purpose::kMosaic. Each is flipped as in step 3, enlarged so that it covers its
// rectangle and up to twice that much beyond, jittered in aspect, and put anywhere that leaves no gap; with
// free_placement it is placed in its rectangle as a single picture is in the output. One change of colours
// for all.
Plan mosaic_plan(const Options& options, const PlanRequest& request);

}  // namespace maskfit::augment
