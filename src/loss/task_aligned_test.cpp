#include "loss/task_aligned_costs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "tensor/array.h"

namespace maskfit::loss {
namespace {

using Config = spec::CostFunctionConfig::TaskAligned;

const targets::BoxCoding kCoding{35.0f, 0.5f};

Config recipe() {
  Config config;
  config.set_top_k(10);
  config.set_coverage_power(1);
  config.set_iou_power(6);
  config.set_min_radius(1);
  config.set_coverage_weight(1);
  config.set_ciou_weight(2.5f);
  config.set_l1_weight(0.5f);
  return config;
}

boxes::GridGeometry grid(int width, int height) {
  return {width * 16, height * 16, width, height};
}

// offset + amplitude * sin(step * (i + 1)): numbers that another program can make, too.
at::Tensor wave(double step, double offset, double amplitude, std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const auto side : shape) count *= side;
  std::vector<float> values;
  for (std::int64_t i = 1; i <= count; ++i) {
    values.push_back(static_cast<float>(offset + amplitude * std::sin(step * static_cast<double>(i))));
  }
  return tensor::from_values(values, shape).set_requires_grad(true);
}

// Box numbers with which every cell of an H x W grid of C classes predicts `box`.
at::Tensor always(const boxes::Box& box, int classes, const boxes::GridGeometry& geometry) {
  std::vector<float> values;
  for (int c = 0; c < classes; ++c) {
    for (int side = 0; side < 4; ++side) {
      for (int y = 0; y < geometry.grid_height; ++y) {
        for (int x = 0; x < geometry.grid_width; ++x) {
          const float px = static_cast<float>(x) * 16 + 0.5f, py = static_cast<float>(y) * 16 + 0.5f;
          const float distance[] = {px - box.x1, py - box.y1, box.x2 - px, box.y2 - py};
          values.push_back(distance[side] / 35.0f);
        }
      }
    }
  }
  return tensor::from_values(values, {1, 4 * classes, geometry.grid_height, geometry.grid_width});
}

TruthTensors on_cpu(const std::vector<boxes::Truths>& truths) {
  return to_device(pad_truths(truths), c10::kCPU);
}

// Expected numbers: the same formulas written in Python with PyTorch 1.13 autograd in float32, on the same
// input.
TEST(TaskAligned, CostsAndGradientsAreThoseOfTheIndependentReference) {
  const at::Tensor bbox = wave(0.37, 0.6, 0.35, {2, 8, 4, 5});
  const at::Tensor logits = wave(0.71, -1.0, 0.9, {2, 2, 4, 5});
  const std::vector<boxes::Truths> truths = {
      {{{6, 4, 40, 44}, 0}, {{20, 10, 62, 60}, 1}, {{50, 30, 58, 37}, 1}}, {{{10, 20, 44, 52}, 1}}};
  const TaskAlignedCosts costs =
      task_aligned_costs(bbox, logits, on_cpu(truths), grid(5, 4), kCoding, recipe());
  EXPECT_NEAR(costs.positives.item<double>(), 2.6492738, 1e-5);
  EXPECT_NEAR(costs.total.item<double>(), 13.5462437, 2e-4);
  EXPECT_NEAR(costs.class_costs.select(1, 0).sum().item<double>(), 11.8763046, 1e-4);
  EXPECT_NEAR(costs.class_costs.select(1, 1).sum().item<double>(), 2.5 * 0.6123106 + 0.5 * 0.2783232, 1e-4);

  const auto gradients = torch::autograd::grad({costs.total}, {bbox, logits});
  EXPECT_NEAR(gradients[0].norm().item<double>(), 0.7827327, 1e-4);
  EXPECT_NEAR(gradients[1].norm().item<double>(), 1.0542010, 1e-5);
  EXPECT_NEAR(gradients[0].flatten()[37].item<double>(), -0.0460129, 1e-5);
  EXPECT_NEAR(gradients[1].flatten()[11].item<double>(), 0.1473572, 1e-6);
  EXPECT_NEAR(gradients[1].flatten()[79].item<double>(), 0.1189550, 1e-6);
}

TEST(TaskAligned, APerfectBoxCostsNothingAndAsksForFullCoverage) {
  const boxes::Box face{8, 8, 72, 56};
  const at::Tensor logits = at::zeros({1, 2, 4, 6});
  const TruthTensors truths = on_cpu({{{face, 1}}});
  const TaskAlignedCosts costs =
      task_aligned_costs(always(face, 2, grid(6, 4)), logits, truths, grid(6, 4), kCoding, recipe());
  EXPECT_NEAR(costs.class_costs.select(1, 1).sum().item<double>(), 0, 1e-4);
  const at::Tensor decoded = decode_cells(always(face, 2, grid(6, 4)), grid(6, 4), kCoding);
  const Assignment assigned =
      assign_task_aligned(decoded, logits.sigmoid(), truths, grid(6, 4), kCoding, recipe());
  EXPECT_NEAR(assigned.quality.max().item<double>(), 1, 1e-4);
  // All cells inside tie: every one of at least the tenth best value answers.
  EXPECT_EQ(assigned.quality.gt(0.9).sum().item<std::int64_t>(), 4 * 3);
}

TEST(TaskAligned, NoMoreThanTopKCellsAnswerForAnObject) {
  Config config = recipe();
  config.set_top_k(3);
  const at::Tensor bbox = wave(0.37, 1.0, 0.2, {1, 4, 6, 6}), cov = wave(0.5, 0.5, 0.3, {1, 1, 6, 6});
  const Assignment assigned =
      assign_task_aligned(decode_cells(bbox, grid(6, 6), kCoding), cov, on_cpu({{{{0, 0, 96, 96}, 0}}}),
                          grid(6, 6), kCoding, config);
  EXPECT_EQ(assigned.quality.gt(0).sum().item<std::int64_t>(), 3);
}

TEST(TaskAligned, AFaceBetweenCellsStillHasCellsThatAnswer) {
  // 4 x 4 pixels between the reference points (16.5, 16.5) and (32.5, 32.5).
  const boxes::Box tiny{22, 22, 26, 26};
  const at::Tensor bbox = always({20, 20, 28, 28}, 1, grid(4, 4));
  const Assignment assigned =
      assign_task_aligned(decode_cells(bbox, grid(4, 4), kCoding), at::full({1, 1, 4, 4}, 0.1),
                          on_cpu({{{tiny, 0}}}), grid(4, 4), kCoding, recipe());
  EXPECT_EQ(assigned.quality.gt(0).sum().item<std::int64_t>(), 4);
}

TEST(TaskAligned, ACellThatTwoFacesWantGoesToTheBetterBox) {
  const boxes::Box first{0, 0, 64, 64}, second{0, 0, 64, 40};
  const at::Tensor decoded = decode_cells(always(second, 1, grid(4, 4)), grid(4, 4), kCoding);
  const Assignment assigned =
      assign_task_aligned(decoded, at::full({1, 1, 4, 4}, 0.5), on_cpu({{{first, 0}, {second, 0}}}),
                          grid(4, 4), kCoding, recipe());
  // Cell (0, 0) lies in both boxes and predicts the second exactly.
  EXPECT_FLOAT_EQ(assigned.boxes[0][0][3].item<float>(), 40);
  EXPECT_GT(assigned.quality[0][0].item<float>(), 0.99f);
}

TEST(TaskAligned, IgnoreRegionsAreNeitherFacesNorBackground) {
  const at::Tensor logits = at::zeros({1, 1, 4, 4}), bbox = always({0, 0, 20, 20}, 1, grid(4, 4));
  const auto coverage_cost = [&](const boxes::Truths& truths) {
    return task_aligned_costs(bbox, logits, on_cpu({truths}), grid(4, 4), kCoding, recipe())
        .class_costs[0][0]
        .item<double>();
  };
  const double all = coverage_cost({});
  EXPECT_NEAR(all, 16 * std::log(2.0), 1e-4);
  // Reference points at 0.5 and 16.5 on both axes: four cells.
  EXPECT_NEAR(coverage_cost({{{0, 0, 20, 20}, -1, true}}), 12 * std::log(2.0), 1e-4);
}

TEST(TaskAligned, PicturesWithoutFacesGiveFiniteGradients) {
  const at::Tensor bbox = wave(0.37, 0.6, 0.35, {1, 4, 4, 5}), logits = wave(0.71, -1.0, 0.9, {1, 1, 4, 5});
  const TaskAlignedCosts costs =
      task_aligned_costs(bbox, logits, on_cpu({{}}), grid(5, 4), kCoding, recipe());
  const auto gradients = torch::autograd::grad({costs.total}, {bbox, logits});
  EXPECT_EQ(gradients[0].abs().max().item<float>(), 0);
  EXPECT_TRUE(std::isfinite(gradients[1].norm().item<double>()));
}

TEST(TaskAligned, InvertedPredictionsGiveFiniteGradients) {
  const at::Tensor bbox = wave(0.37, -2.0, 0.35, {1, 4, 4, 5}), logits = wave(0.71, -1.0, 0.9, {1, 1, 4, 5});
  const TaskAlignedCosts costs =
      task_aligned_costs(bbox, logits, on_cpu({{{{6, 4, 40, 44}, 0}}}), grid(5, 4), kCoding, recipe());
  const auto gradients = torch::autograd::grad({costs.total}, {bbox, logits});
  EXPECT_TRUE(std::isfinite(gradients[0].norm().item<double>()));
  EXPECT_GT(gradients[0].norm().item<double>(), 0);
}

TEST(PadTruths, ADegenerateBoxIsNoTruth) {
  const PaddedTruths padded = pad_truths({{{{5, 5, 5, 9}, 0}, {{1, 2, 3, 4}, 1}}, {}});
  EXPECT_EQ(padded.slots, 2);
  EXPECT_EQ(padded.kinds, (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(padded.classes[1], 1);
}

}  // namespace
}  // namespace maskfit::loss
