#pragma once

#include <span>

namespace maskfit::postprocess {

// Direction of the sum of unit vectors, in radians, -pi..pi; what an orientation head's members average to.
// Empty weights count as equal ones. REQUIRES weights to be empty or as many as angles.
double mean_angle(std::span<const double> angles, std::span<const double> weights = {});

}  // namespace maskfit::postprocess
