#pragma once

// Which layers suffer most from 8 bit.

#include <functional>
#include <string>
#include <vector>

#include "export/pictures.h"

namespace maskfit::exporting {

struct LayerSensitivity {
  std::string layer;
  double box_px = 0;    // mean move of a box number where the real network sees an object, pixels
  double coverage = 0;  // mean change of the coverage there
  // What the order goes by: a pixel weighs as much as a hundredth of coverage, as in the tolerances of real
  // numbers.
  double harm() const { return box_px + 100 * coverage; }
};

// Each convolution alone in 8 bit, all else in real numbers; the most harmful first. Cells count where the
// real network's coverage is at least 0.1, or the 1 % with the highest coverage where there are fewer.
std::vector<LayerSensitivity> layer_sensitivity(
    const network::Model& folded, const std::map<std::string, float>& scales, const PictureSource& pictures,
    const std::function<void(std::size_t done, std::size_t total)>& progress = {});

}  // namespace maskfit::exporting
