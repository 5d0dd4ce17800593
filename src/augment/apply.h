#pragma once

// Executes a plan on the CPU. This is the definition; warp_cuda.cu must agree with it.
//
// For the output pixel (X, Y): [X + .5, Y + .5, 1] * M, minus .5, is the place on the source; the four pixels
// around it are blended bilinearly, and neighbours outside the source count as plan.fill. Then the colours go
// through plan.color (RGB only) and are cut to 0..1. Pixels of no tile are plan.fill, too, before the colours
// change.

#include <span>

#include "augment/plan.h"
#include "image/image.h"

namespace maskfit::augment {

// sources[i] is the picture of plan.tiles[i]; all have the same number of channels (3 or 1).
// Writes chw, [channels][output.height][output.width], 0..1.
void apply(const Plan& plan, std::span<const image::Image* const> sources, image::Size output, float* chw);

}  // namespace maskfit::augment
