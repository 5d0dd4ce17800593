#pragma once

// Boxes follow their pictures through a plan.

#include <optional>
#include <span>

#include "augment/options.h"
#include "augment/plan.h"
#include "boxes/box.h"

namespace maskfit::augment {

// The truths of all tiles in network pixels. truths_in_canvas[i] belongs to plan.tiles[i] (may be null:
// none). Corners go through the inverse of the tile's matrix; what then lies outside the output, or in a
// mosaic outside its tile, is treated as options.labels says (a mosaic always cuts).
boxes::Truths truths_in_network(const Plan& plan, std::span<const boxes::Truths* const> truths_in_canvas,
                                const Options& options);

// The reference's clipper: nothing for a box wholly outside the crop, else the box cut to it. An all-zero
// crop changes nothing. *truncated is set, never cleared, when exactly one of the box's two corners lies
// inside.
std::optional<boxes::Box> clip_to_crop(const boxes::Box& box, const CropRect& crop, bool* truncated);

}  // namespace maskfit::augment
