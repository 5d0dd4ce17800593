#include "train/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace maskfit::train {
namespace {

using Floats = std::vector<float>;

Floats random(std::size_t count, std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kTest);
  Floats values(count);
  for (float& v : values) v = rng.uniform(-1, 1);
  return values;
}

// One array of three numbers with its moments and average.
struct Weights {
  Floats p = {0.5f, -2, 0}, g = {3, 0, -4}, m = {0, 0, 0}, v = {0, 0, 0}, average = {1, 1, 1};
  UpdateArray array() {
    UpdateArray a;
    a.parameter = p.data();
    a.gradient = g.data();
    a.first = m.data();
    a.second = v.data();
    a.average = average.data();
    a.n = 3;
    return a;
  }
};

UpdateState state_with(float step_size, float average_weight) {
  UpdateState state;
  state.scalars = {.learning_rate = 0.1f,
                   .step_size = step_size,
                   .root_scale = 1,
                   .average_weight = average_weight,
                   .norm_limit = 1e30f};
  return state;
}

constexpr float kTask = 2;

TEST(Update, TheNormIsThatOfAllGradients) {
  Weights w;
  const UpdateArray arrays[] = {w.array(), w.array()};
  UpdateState state = state_with(0.1f, 0);
  float numbers[3];
  measure_update_on_cpu(arrays, {}, &state, &kTask, numbers);
  EXPECT_FLOAT_EQ(numbers[0], 2);
  EXPECT_FLOAT_EQ(numbers[1], 0);
  EXPECT_FLOAT_EQ(numbers[2], std::sqrt(50.0f));
  EXPECT_EQ(state.sick, 0);
}

TEST(Update, ThePenaltyCountsOnlyWhereItApplies) {
  Weights w;
  UpdateArray regularised = w.array();
  regularised.regularised = true;
  UpdateRule rule;
  rule.penalty = Penalty::kL1;
  rule.penalty_weight = 0.1f;
  float numbers[3];
  const UpdateArray arrays[] = {regularised, w.array()};
  UpdateState state = state_with(0.1f, 0);
  measure_update_on_cpu(arrays, rule, &state, &kTask, numbers);
  EXPECT_FLOAT_EQ(numbers[1], 0.25f);  // 0.1 * (0.5 + 2)
  // Gradients 3.1, -0.1, -4 and 3, 0, -4: the sign of 0 is 0.
  EXPECT_FLOAT_EQ(numbers[2], std::sqrt(3.1f * 3.1f + 0.01f + 16 + 25));
  rule.penalty = Penalty::kL2;
  measure_update_on_cpu(arrays, rule, &state, &kTask, numbers);
  EXPECT_FLOAT_EQ(numbers[1], 0.425f);  // 0.1 * (0.25 + 4)
}

TEST(Update, TheFirstStepOfAdamMovesByTheLearningRateAgainstTheSign) {
  Weights w;
  const UpdateArray arrays[] = {w.array()};
  UpdateState state = state_with(0, 0.5f);
  // TensorFlow's form at t = 1: lr * sqrt(1 - b2) / (1 - b1).
  state.scalars.step_size = static_cast<float>(0.1 * std::sqrt(1 - 0.999) / (1 - 0.9));
  apply_update_on_cpu(arrays, {}, state);
  EXPECT_NEAR(w.p[0], 0.4f, 1e-5);
  EXPECT_EQ(w.p[1], -2);
  EXPECT_NEAR(w.p[2], 0.1f, 1e-5);
  EXPECT_NEAR(w.average[0], 0.7f, 1e-5);  // halfway from 1 to 0.4
}

TEST(Update, ASickStepChangesNoWeightButTheAverageGoesOn) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 100.f}) {
    Weights w;
    w.g[1] = bad;
    const UpdateArray arrays[] = {w.array()};
    UpdateState state = state_with(0.1f, 0.5f);
    state.scalars.norm_limit = 50;
    float numbers[3];
    measure_update_on_cpu(arrays, {}, &state, &kTask, numbers);
    EXPECT_EQ(state.sick, 1) << bad;
    apply_update_on_cpu(arrays, {}, state);
    EXPECT_EQ(w.p, (Floats{0.5f, -2, 0}));
    EXPECT_EQ(w.m, (Floats{0, 0, 0}));
    EXPECT_FLOAT_EQ(w.average[0], 0.75f);
  }
}

TEST(Update, ALossThatIsNotFiniteIsSick) {
  Weights w;
  const UpdateArray arrays[] = {w.array()};
  UpdateState state = state_with(0.1f, 0);
  const float task = std::numeric_limits<float>::quiet_NaN();
  float numbers[3];
  measure_update_on_cpu(arrays, {}, &state, &task, numbers);
  EXPECT_EQ(state.sick, 1);
}

TEST(Update, ClippingShrinksAllGradientsTogether) {
  Weights w;
  const UpdateArray arrays[] = {w.array()};
  UpdateRule rule;
  rule.max_norm = 1;
  UpdateState state = state_with(0.1f, 0);
  float numbers[3];
  measure_update_on_cpu(arrays, rule, &state, &kTask, numbers);
  EXPECT_FLOAT_EQ(numbers[2], 5);  // before clipping
  EXPECT_NEAR(state.shrink, 0.2f, 1e-6);
  apply_update_on_cpu(arrays, rule, state);
  EXPECT_NEAR(w.m[0], 0.1f * 0.6f, 1e-6);
}

// Spec 4.5: such a step is taken with zero gradients, and the scale falls.
TEST(Update, OverflownScaledGradientsCountAsZeros) {
  Weights w;
  w.m = {1, 1, 1};
  w.g[2] = std::numeric_limits<float>::infinity();
  const UpdateArray arrays[] = {w.array()};
  UpdateRule rule;
  rule.scaled = true;
  rule.increment = 0.5f;
  rule.decrement = 1;
  UpdateState state = state_with(0.1f, 0);
  state.exponent = 10;
  state.unscale = 1.0f / 1024;
  float numbers[3];
  measure_update_on_cpu(arrays, rule, &state, &kTask, numbers);
  EXPECT_EQ(state.sick, 0);
  EXPECT_EQ(state.exponent, 9);
  EXPECT_EQ(state.bad_steps, 1);
  EXPECT_EQ(numbers[2], 0);
  apply_update_on_cpu(arrays, rule, state);
  for (const float m : w.m) EXPECT_FLOAT_EQ(m, 0.9f);
  w.g[2] = -4;
  measure_update_on_cpu(arrays, rule, &state, &kTask, numbers);
  EXPECT_EQ(state.exponent, 9.5f);
  EXPECT_FLOAT_EQ(numbers[2], 5.0f / 1024);
}

TEST(Update, DecayShrinksOnlyTheArraysItAppliesTo) {
  Weights a, b;
  UpdateArray decaying = a.array();
  decaying.decays = true;
  const UpdateArray arrays[] = {decaying, b.array()};
  UpdateRule rule;
  rule.decay = 0.5f;
  apply_update_on_cpu(arrays, rule, state_with(0, 0));
  EXPECT_FLOAT_EQ(a.p[1], -2 * 0.95f);
  EXPECT_FLOAT_EQ(b.p[1], -2);
}

TEST(Update, AMovingStatisticIsOnlyAveraged) {
  Floats value = random(5, 1), average(5, 0.0f);
  const Floats before = value;
  UpdateArray array;
  array.parameter = value.data();
  array.average = average.data();
  array.n = 5;
  const UpdateArray arrays[] = {array};
  apply_update_on_cpu(arrays, {}, state_with(0.1f, 1));
  EXPECT_EQ(value, before);
  EXPECT_EQ(average, before);
}

}  // namespace
}  // namespace maskfit::train
