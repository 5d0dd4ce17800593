#include "postprocess/mean_angle.h"

#include <cmath>

#include "base/error.h"

namespace maskfit::postprocess {

double mean_angle(std::span<const double> angles, std::span<const double> weights) {
  MASKFIT_CHECK(weights.empty() || weights.size() == angles.size(), "angles {} weights {}", angles.size(),
                weights.size());
  double sine = 0, cosine = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double weight = weights.empty() ? 1.0 : weights[i];
    sine += weight * std::sin(angles[i]);
    cosine += weight * std::cos(angles[i]);
  }
  return std::atan2(sine, cosine);
}

}  // namespace maskfit::postprocess
