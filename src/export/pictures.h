#pragma once

// Pictures as a network sees them, one by one, from wherever the caller has them.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "export/executor.h"
#include "image/image.h"

namespace maskfit::exporting {

struct Picture {
  std::string id;
  image::Image canvas;  // of the network's input size, as in training without augmentation
  image::Size content;  // the part of the canvas that the picture covers, from the top left corner
  boxes::Truths truths_in_network;
};

struct PictureSource {
  std::int64_t count = 0;
  std::function<Picture(std::int64_t)> at;
};

// [C][H][W], 0..1: exactly what training computes from these bytes.
std::vector<float> network_pixels(const image::Image& canvas);

// Any implementation of one network.
using Forward = std::function<std::vector<Grids>(const std::vector<std::span<const float>>& pictures)>;

}  // namespace maskfit::exporting
