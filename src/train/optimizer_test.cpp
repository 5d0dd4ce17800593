#include "train/optimizer.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "tensor/array.h"
#include "train/adam_loop.h"
#include "train/snapshot.h"

namespace maskfit::train {
namespace {

using ::testing::HasSubstr;

spec::OptimizerConfig adam(float epsilon = 1e-8f) {
  spec::OptimizerConfig config;
  config.mutable_adam()->set_epsilon(epsilon);
  return config;
}

spec::OptimizerConfig adamw(float decay) {
  spec::OptimizerConfig config;
  config.mutable_adamw()->set_weight_decay(decay);
  return config;
}

std::vector<float> random_values(std::size_t count, std::uint64_t sample) {
  base::Rng rng(1, base::Purpose::kTest, 0, sample);
  std::vector<float> values(count);
  for (float& v : values) v = rng.uniform(-1.0f, 1.0f);
  return values;
}

// The formulas of the header in float64, one element.
struct Element {
  double p = 0, m = 0, v = 0;

  void step(double g, int t, double lr, double epsilon, bool tensorflow, double decay) {
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double c1 = 1 - std::pow(0.9, t), c2 = 1 - std::pow(0.999, t);
    if (tensorflow) {
      p -= lr * std::sqrt(c2) / c1 * m / (std::sqrt(v) + epsilon);
    } else {
      p = (1 - lr * decay) * p - lr / c1 * m / (std::sqrt(v / c2) + epsilon);
    }
  }
};

// Ten steps of the optimiser against the formulas, for a kernel in channels-last memory and a bias.
void expect_formula(const spec::OptimizerConfig& config, bool tensorflow, double epsilon, double decay,
                    float gradient_scale) {
  const std::vector<float> kernel = random_values(4 * 3 * 3 * 3, 1), bias = random_values(4, 2);
  const at::Tensor kernel_tensor =
      tensor::from_values(kernel, {4, 3, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor bias_tensor = tensor::from_values(bias, {4});
  Optimizer optimizer(config, {"c/kernel", "c/bias"}, {kernel_tensor, bias_tensor});
  std::vector<Element> kernel_elements, bias_elements;
  for (const float v : kernel) kernel_elements.push_back({.p = v});
  for (const float v : bias) bias_elements.push_back({.p = v});
  for (int t = 1; t <= 10; ++t) {
    std::vector<float> g_kernel = random_values(kernel.size(), 10 + static_cast<std::uint64_t>(t));
    std::vector<float> g_bias = random_values(bias.size(), 30 + static_cast<std::uint64_t>(t));
    for (float& v : g_kernel) v *= gradient_scale;
    for (float& v : g_bias) v *= gradient_scale;
    // The kernel's gradient comes in row-major memory, unlike the kernel.
    optimizer.step({tensor::from_values(g_kernel, {4, 3, 3, 3}), tensor::from_values(g_bias, {4})}, 0.01);
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      kernel_elements[i].step(g_kernel[i], t, 0.01, epsilon, tensorflow, decay);
    }
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias_elements[i].step(g_bias[i], t, 0.01, epsilon, tensorflow, 0);
  }
  const std::vector<float> kernel_after = tensor::to_values(kernel_tensor),
                           bias_after = tensor::to_values(bias_tensor);
  for (std::size_t i = 0; i < kernel.size(); ++i)
    EXPECT_NEAR(kernel_after[i], kernel_elements[i].p, 2e-6) << i;
  for (std::size_t i = 0; i < bias.size(); ++i) EXPECT_NEAR(bias_after[i], bias_elements[i].p, 2e-6) << i;
  EXPECT_EQ(optimizer.steps(), 10);
}

TEST(OptimizerTest, AdamIsTensorFlowsForm) {
  expect_formula(adam(), true, 1e-8, 0, 1);
}

TEST(OptimizerTest, EpsilonLiesOutsideTheBiasCorrection) {
  // Gradients as small as epsilon: PyTorch's form would differ by a factor of up to 30 in the first step.
  expect_formula(adam(1e-3f), true, 1e-3f, 0, 1e-3f);
}

TEST(OptimizerTest, AdamwDecaysKernelsAndNotBiases) {
  expect_formula(adamw(0.5f), false, 1e-8, 0.5, 1);
}

TEST(OptimizerTest, ZeroGradientStillMovesByMomentum) {
  const std::vector<float> one = {1.0f};
  const at::Tensor parameter = tensor::from_values(one, {1});
  Optimizer optimizer(adam(), {"p"}, {parameter});
  optimizer.step({tensor::from_values(one, {1})}, 0.1);
  const float before = tensor::to_values(parameter)[0];
  optimizer.step({at::zeros({1})}, 0.1);
  EXPECT_LT(tensor::to_values(parameter)[0], before - 0.01f);
}

TEST(OptimizerTest, ResumedRunGoesOnWithTheSameBits) {
  const std::vector<float> start = random_values(8 * 2 * 3 * 3, 5);
  const auto gradient = [](int t) {
    return tensor::from_values(random_values(8 * 2 * 3 * 3, 50 + static_cast<std::uint64_t>(t)),
                               {8, 2, 3, 3});
  };
  const auto fresh = [&] {
    return tensor::from_values(start, {8, 2, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor straight = fresh(), paused = fresh();
  Optimizer whole(adam(), {"k"}, {straight}), first_half(adam(), {"k"}, {paused});
  for (int t = 0; t < 6; ++t) whole.step({gradient(t)}, 0.01);
  for (int t = 0; t < 3; ++t) first_half.step({gradient(t)}, 0.01);
  Optimizer second_half(adam(), {"k"}, {paused});
  second_half.set_state(to_arrays(first_half.tensors()), first_half.steps());
  for (int t = 3; t < 6; ++t) second_half.step({gradient(t)}, 0.01);
  EXPECT_EQ(tensor::to_values(paused), tensor::to_values(straight));
}

TEST(OptimizerTest, StateOfAnotherNetworkIsRefusedByName) {
  const std::vector<float> values = {1, 2};
  Optimizer optimizer(adam(), {"p"}, {tensor::from_values(values, {2})});
  auto state = to_arrays(optimizer.tensors());
  state["adam/second_moment/p"].shape = {1, 2};
  try {
    optimizer.set_state(state, 1);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'adam/second_moment/p'"));
    EXPECT_THAT(error.what(), HasSubstr("another shape"));
  }
  state.erase("adam/first_moment/p");
  try {
    optimizer.set_state(state, 1);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("lacks 'adam/first_moment/p'"));
  }
}

TEST(OptimizerTest, GradientThatDoesNotFitIsNamed) {
  const std::vector<float> values = {1, 2};
  Optimizer optimizer(adam(), {"conv1/bias"}, {tensor::from_values(values, {2})});
  try {
    optimizer.step({at::zeros({3})}, 0.1);
    FAIL();
  } catch (const base::CheckFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("'conv1/bias'"));
  }
  EXPECT_THROW(optimizer.step({}, 0.1), base::CheckFailed);
}

TEST(OptimizerTest, SpecWithoutOptimiserNamesTheChoices) {
  const std::vector<float> values = {1};
  EXPECT_THROW(Optimizer({}, {"p"}, {tensor::from_values(values, {1})}), base::Error);
}

TEST(AdamLoopTest, EveryLengthGivesWhatSingleElementsGive) {
  AdamFactors factors;
  factors.step_size = 0.01f;
  factors.shrink = 0.99f;
  for (const std::size_t n : {0u, 1u, 7u, 16u, 33u, 100u}) {
    std::vector<float> p = random_values(n, 1), m = random_values(n, 2), v = random_values(n, 3);
    for (float& x : v) x = std::abs(x);
    const std::vector<float> g = random_values(n, 4);
    std::vector<float> p1 = p, m1 = m, v1 = v;
    adam_loop(p.data(), g.data(), m.data(), v.data(), static_cast<std::int64_t>(n), factors);
    for (std::size_t i = 0; i < n; ++i) adam_loop(&p1[i], &g[i], &m1[i], &v1[i], 1, factors);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_FLOAT_EQ(p[i], p1[i]);
      EXPECT_FLOAT_EQ(m[i], m1[i]);
      EXPECT_FLOAT_EQ(v[i], v1[i]);
    }
  }
}

TEST(ClipGradientsTest, NormIsTakenOverAllArrays) {
  const std::vector<float> a = {3, 0}, b = {0, 0, 4};
  const std::vector<at::Tensor> gradients = {tensor::from_values(a, {2}), tensor::from_values(b, {3})};
  clip_gradients(gradients, 2.5);
  EXPECT_NEAR(tensor::to_values(gradients[0])[0], 1.5, 1e-6);
  EXPECT_NEAR(tensor::to_values(gradients[1])[2], 2.0, 1e-6);
}

TEST(ClipGradientsTest, SmallGradientsAndNoLimitChangeNothing) {
  const std::vector<float> a = {3, 4};
  const std::vector<at::Tensor> gradients = {tensor::from_values(a, {2})};
  clip_gradients(gradients, 6);
  clip_gradients(gradients, 0);
  EXPECT_EQ(tensor::to_values(gradients[0]), a);
}

}  // namespace
}  // namespace maskfit::train
