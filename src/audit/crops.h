#pragma once

// Whether a picture is a part of another one.

#include <cstdint>
#include <vector>

#include "boxes/box.h"
#include "dataset/fingerprint.h"
#include "image/image.h"

namespace maskfit::audit {

using dataset::Print;

// Parts of a picture that are tried, as shares of its sides: five sizes of the same shape, at its corners,
// edges and in its middle.
const std::vector<boxes::Box>& tried_parts();

// The print of a part, from the print of the whole; blurred, as there are only so many values.
Print print_of_part(const Print& whole, const boxes::Box& part);

// The hashes of all tried_parts() in their order: hash_of(print_of_part(whole, part)) but for bits whose
// coefficient is as good as 0.
//
// Cutting and resampling an interval of an axis and then taking 8 cosines of it is one linear map of 32
// values to 8, the same for every picture. The parts are made of 15 intervals an axis, so a part's 64
// coefficients are A P B^T with two of 15 matrices, and P B^T is shared by the three parts of one column.
std::vector<std::uint64_t> hashes_of_parts(const Print& whole);

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
