#pragma once

// Small photographs that differ as photographs do, for tests.

#include <algorithm>

#include "dataset/picture_facts.h"
#include "dataset/synthetic.h"
#include "image/image.h"
#include "image/resize.h"

namespace maskfit::dataset {

inline image::Image scene(std::int64_t index, image::Size size = {320, 240}) {
  SyntheticOptions options;
  options.size = size;
  options.max_face_height = static_cast<float>(size.height) / 2;
  options.min_face_height = static_cast<float>(size.height) / 6;
  return draw_synthetic(options, index).image;
}

inline image::Image flipped(const image::Image& picture) {
  image::Image turned = picture;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      for (int c = 0; c < 3; ++c) turned.row(y)[3 * x + c] = picture.row(y)[3 * (picture.width - 1 - x) + c];
    }
  }
  return turned;
}

inline image::Image brighter(image::Image picture, double factor, int plus) {
  for (std::uint8_t& value : picture.pixels)
    value = static_cast<std::uint8_t>(std::clamp(factor * value + plus, 0.0, 255.0));
  return picture;
}

}  // namespace maskfit::dataset
