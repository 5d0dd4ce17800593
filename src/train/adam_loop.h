#pragma once

// The arithmetic of one Adam step over an array in memory.

#include <cstdint>

namespace maskfit::train {

// Factors that are the same for every element of a step.
struct AdamFactors {
  float beta1 = 0.9f, beta2 = 0.999f;
  float shrink = 1;      // on the parameter: 1 - learning rate * decay
  float step_size = 0;   // on m / denominator
  float root_scale = 1;  // denominator = sqrt(v) * root_scale + epsilon
  float epsilon = 1e-8f;
};

// n elements each of parameter, gradient, first and second moment. Runs with the widest vectors that the
// processor has.
void adam_loop(float* parameter, const float* gradient, float* first, float* second, std::int64_t n,
               const AdamFactors& factors);

}  // namespace maskfit::train
