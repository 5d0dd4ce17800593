#pragma once

// Small versions of pictures, for hashes, statistics and thumbnails, at a fraction of the cost of decoding.

#include "image/image.h"

namespace maskfit::image {

// A JPEG at the smallest of 1/8, 1/4, 1/2 and 1 of its size at which the shorter side still has `least_side`
// pixels, computed from as many coefficients as that takes; other formats as decode_image() gives them.
// Upright RGB. All of the file is read: a picture that decode_image() refuses is refused here, with the same
// words, and `info` is the same. REQUIRES least_side >= 1.
Image decode_reduced(std::string_view bytes, const std::string& name_for_errors, int least_side,
                     ReadInfo* info = nullptr);

}  // namespace maskfit::image
