#include "train/adam_loop.h"

#include <cmath>

namespace maskfit::train {

// Compiled three times; the loader picks one. -O3 and the two -fno flags let the square root be vectorised:
// nobody reads errno or traps after it.
__attribute__((target_clones("avx512f", "avx2", "default"),
               optimize("O3", "no-math-errno", "no-trapping-math"))) void
adam_loop(float* __restrict parameter, const float* __restrict gradient, float* __restrict first,
          float* __restrict second, std::int64_t n, const AdamFactors& factors) {
  const AdamFactors f = factors;
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    const float m = f.beta1 * first[i] + (1 - f.beta1) * g;
    const float v = f.beta2 * second[i] + (1 - f.beta2) * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] = f.shrink * parameter[i] - f.step_size * m / (std::sqrt(v) * f.root_scale + f.epsilon);
  }
}

}  // namespace maskfit::train
