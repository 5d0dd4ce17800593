#include "train/update.h"

#include <algorithm>
#include <cmath>

namespace maskfit::train {
namespace {

float gradient_at(const UpdateArray& array, std::int64_t i) {
  return static_cast<const float*>(array.gradient)[i];
}

double penalty_of(const UpdateArray& array, const UpdateRule& rule, float p) {
  if (!array.regularised || rule.penalty == Penalty::kNone) return 0;
  return rule.penalty_weight * (rule.penalty == Penalty::kL1 ? std::abs(p) : p * p);
}

float penalty_gradient(const UpdateArray& array, const UpdateRule& rule, float p) {
  if (!array.regularised || rule.penalty == Penalty::kNone) return 0;
  if (rule.penalty == Penalty::kL2) return 2 * rule.penalty_weight * p;
  return p > 0 ? rule.penalty_weight : p < 0 ? -rule.penalty_weight : 0;
}

}  // namespace

void measure_update_on_cpu(std::span<const UpdateArray> arrays, const UpdateRule& rule, UpdateState* state,
                           const float* task, float* numbers) {
  double squares = 0, penalty = 0;
  bool finite = true;
  for (const UpdateArray& array : arrays) {
    if (array.gradient == nullptr) continue;
    for (std::int64_t i = 0; i < array.n; ++i) {
      const float raw = gradient_at(array, i) * state->unscale;
      finite = finite && std::isfinite(raw);
      const double g = raw + penalty_gradient(array, rule, array.parameter[i]);
      squares += g * g;
      penalty += penalty_of(array, rule, array.parameter[i]);
    }
  }
  state->finite = finite || !rule.scaled ? 1 : 0;
  state->penalty = static_cast<float>(penalty);
  state->norm = state->finite != 0 ? static_cast<float>(std::sqrt(squares)) : 0;
  const bool sound = std::isfinite(*task) && std::isfinite(state->penalty) && std::isfinite(state->norm) &&
                     state->norm <= state->scalars.norm_limit;
  state->sick = sound ? 0 : 1;
  state->shrink = rule.max_norm > 0 ? std::min(1.0f, rule.max_norm / (state->norm + 1e-6f)) : 1;
  if (rule.scaled) {
    state->exponent += state->finite != 0 ? rule.increment : -rule.decrement;
    state->bad_steps += state->finite != 0 ? 0 : 1;
  }
  numbers[0] = *task, numbers[1] = state->penalty, numbers[2] = state->norm;
}

void apply_update_on_cpu(std::span<const UpdateArray> arrays, const UpdateRule& rule,
                         const UpdateState& state) {
  const StepScalars& s = state.scalars;
  for (const UpdateArray& array : arrays) {
    for (std::int64_t i = 0; i < array.n; ++i) {
      float& p = array.parameter[i];
      if (array.gradient != nullptr && state.sick == 0) {
        const float raw = gradient_at(array, i) * state.unscale + penalty_gradient(array, rule, p);
        const float g = state.finite != 0 ? raw * state.shrink : 0;
        float& m = array.first[i];
        float& v = array.second[i];
        m = rule.beta1 * m + (1 - rule.beta1) * g;
        v = rule.beta2 * v + (1 - rule.beta2) * g * g;
        const float kept = array.decays ? 1 - s.learning_rate * rule.decay : 1;
        p = kept * p - s.step_size * m / (std::sqrt(v) * s.root_scale + rule.epsilon);
      }
      if (array.average != nullptr) array.average[i] += s.average_weight * (p - array.average[i]);
    }
  }
}

}  // namespace maskfit::train
