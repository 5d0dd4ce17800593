#include "loss/distillation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "tensor/array.h"

namespace maskfit::loss {
namespace {

spec::CostFunctionConfig::Distillation weights(float coverage, float box) {
  spec::CostFunctionConfig::Distillation config;
  config.set_coverage_weight(coverage);
  config.set_box_weight(box);
  return config;
}

// One class, one row of cells.
at::Tensor cells(std::vector<float> values) {
  const auto width = static_cast<std::int64_t>(values.size());
  return tensor::from_values(values, {1, 1, 1, width});
}
at::Tensor logits(std::vector<float> probabilities) {
  for (float& p : probabilities) p = std::log(p / (1 - p));
  return cells(probabilities);
}
// Left, top, right, bottom of every cell.
at::Tensor boxes(std::vector<float> a, std::vector<float> b) {
  std::vector<float> values;
  for (std::size_t i = 0; i < 4; ++i) {
    values.push_back(a[i]);
    values.push_back(b[i]);
  }
  return tensor::from_values(values, {1, 4, 1, 2});
}

TEST(DistillationTest, StudentThatAgreesCostsNothing) {
  const at::Tensor bbox = boxes({1, 1, 1, 1}, {2, 1, 0.5, 1});
  const at::Tensor cost =
      distillation_cost(bbox, logits({0.9f, 0.2f}), bbox, cells({0.9f, 0.2f}), 35, weights(1, 1));
  EXPECT_NEAR(tensor::to_number(cost), 0, 1e-6);
}

TEST(DistillationTest, CoverageCostsTheDivergenceAShareOfTheTaughtCoverage) {
  const at::Tensor bbox = boxes({1, 1, 1, 1}, {1, 1, 1, 1});
  const double t = 0.8, p = 0.5, u = 0.05, q = 0.1;
  const at::Tensor cost =
      distillation_cost(bbox, logits({0.5f, 0.1f}), bbox, cells({0.8f, 0.05f}), 35, weights(2, 1));
  const auto divergence = [](double from, double to) {
    return from * std::log(from / to) + (1 - from) * std::log((1 - from) / (1 - to));
  };
  // The sum of the taught coverage is 0.8, less than one object.
  EXPECT_NEAR(tensor::to_number(cost), 2 * (divergence(t, p) + divergence(u, q)), 1e-5);
}

TEST(DistillationTest, BoxesCountWhereTheTeacherSeesSomething) {
  const at::Tensor right = boxes({1, 1, 1, 1}, {1, 1, 1, 1});
  const auto cost = [&](const at::Tensor& student) {
    return tensor::to_number(
        distillation_cost(student, logits({0.9f, 0.05f}), right, cells({0.9f, 0.05f}), 35, weights(0, 1)));
  };
  EXPECT_NEAR(cost(boxes({1, 1, 1, 1}, {9, 9, 9, 9})), 0, 1e-6);
  // Half as high: IoU 1/2; the same centre. The rest is the aspect's term.
  EXPECT_GT(cost(boxes({1, 0.5, 1, 0.5}, {1, 1, 1, 1})), 0.9 * 0.5);
}

TEST(DistillationTest, SureAndBrokenTeachersGiveFiniteGradients) {
  at::Tensor bbox = boxes({1, 1, 1, 1}, {-3, -3, -3, -3}).set_requires_grad(true);
  at::Tensor cov = cells({40, -40}).set_requires_grad(true);
  // Coverage of exactly 1 and 0; a box inside out.
  const at::Tensor cost =
      distillation_cost(bbox, cov, boxes({-1, -1, -1, -1}, {1, 1, 1, 1}), cells({1, 1}), 35, weights(1, 1));
  EXPECT_TRUE(std::isfinite(tensor::to_number(cost.detach())));
  for (const at::Tensor& gradient : torch::autograd::grad({cost}, {bbox, cov})) {
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  }
}

TEST(DistillationTest, GradientPullsTowardsTheTeacher) {
  at::Tensor bbox = boxes({1, 1, 1, 1}, {1, 1, 1, 1}).set_requires_grad(true);
  at::Tensor cov = logits({0.5f, 0.5f}).set_requires_grad(true);
  const at::Tensor cost =
      distillation_cost(bbox, cov, boxes({2, 2, 2, 2}, {1, 1, 1, 1}), cells({0.9f, 0.1f}), 35, weights(1, 1));
  const auto gradients = torch::autograd::grad({cost}, {bbox, cov});
  EXPECT_LT(gradients[0].flatten()[0].item<float>(), 0);  // the box grows
  EXPECT_LT(gradients[1].flatten()[0].item<float>(), 0);  // coverage rises
  EXPECT_GT(gradients[1].flatten()[1].item<float>(), 0);  // and falls
}

}  // namespace
}  // namespace maskfit::loss
