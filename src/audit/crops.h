#pragma once

// Whether a picture is a part of another one.

#include <cstdint>
#include <vector>

#include "audit/fingerprint.h"
#include "boxes/box.h"
#include "image/image.h"

namespace maskfit::audit {

// Parts of a picture that are tried, as shares of its sides: five sizes of the same shape, at its corners,
// edges and in its middle.
const std::vector<boxes::Box>& tried_parts();

// The print of a part, from the print of the whole; blurred, as there are only so many values.
Print print_of_part(const Print& whole, const boxes::Box& part);

// Grey values of a picture, for place_part().
struct GreyPicture {
  int width = 0, height = 0;
  std::vector<float> values;  // [height][width], 0..255
};
// Squeezed to side x side.
GreyPicture grey_picture(const image::Image& picture, int side);
GreyPicture mirrored(const GreyPicture& picture);

// Moves the edges of `part` until that part of `whole` correlates best with `small`, and returns how much.
// The edges move by up to about a tenth of the picture from where they are.
double place_part(const GreyPicture& whole, const GreyPicture& small, boxes::Box* part);

}  // namespace maskfit::audit
