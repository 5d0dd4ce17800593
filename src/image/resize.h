#pragma once

#include <vector>

#include "image/image.h"

namespace maskfit::image {

// All resizers work on 8-bit pictures of any channel count and give a picture of exactly `size` (both sides
// >= 1); a picture that has the size already comes back untouched.

// TensorFlow 1's bilinear: source = output * in / out, no half-pixel centres, no antialiasing, values rounded
// to 8 bit (the reference keeps them as float16). The reference's auto-resize.
Image resize_bilinear_tf1(const Image& image, Size size);

// Lanczos-3 with antialiasing, as Pillow's LANCZOS: horizontal pass, then vertical, 8-bit fixed-point
// rounding between. Equal to Pillow to the last bit. The reference's inference path.
Image resize_lanczos(const Image& image, Size size);

// Area-aware bilinear (triangle filter widened when shrinking), half-pixel centres; Pillow's BILINEAR. The
// default for training canvases.
Image resize_antialias(const Image& image, Size size);

// Pads right and bottom with `fill`, or crops, to `size`.
Image pad_to(const Image& image, Size size, std::uint8_t fill);

}  // namespace maskfit::image
