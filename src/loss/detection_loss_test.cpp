#include "loss/detection_loss.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "loss/loss_tensors.h"
#include "tensor/array.h"

namespace maskfit::loss {
namespace {

constexpr std::int64_t kCount = 2, kClasses = 2, kHeight = 3, kWidth = 4;
constexpr std::size_t kPlane = kHeight * kWidth;

std::vector<float> random_values(std::size_t count, float low, float high, std::uint64_t sample) {
  base::Rng rng(9, base::Purpose::kTest, 0, sample);
  std::vector<float> values(count);
  for (float& v : values) v = rng.uniform(low, high);
  return values;
}

spec::CostFunctionConfig two_classes() {
  spec::CostFunctionConfig config;
  for (const float weight : {1.0f, 8.0f}) {
    auto* target_class = config.add_target_classes();
    target_class->set_name(weight == 1 ? "mask" : "no-mask");
    target_class->set_class_weight(weight);
    target_class->set_coverage_foreground_weight(weight == 1 ? 0.05f : 0.2f);
    for (const char* name : {"cov", "bbox"}) {
      auto* objective = target_class->add_objectives();
      objective->set_name(name);
      objective->set_initial_weight(std::string(name) == "cov" ? 1.0f : 10.0f);
      objective->set_weight_target(1);
    }
  }
  return config;
}

class DetectionLossTest : public ::testing::Test {
 protected:
  DetectionLossTest() {
    options_.cost = two_classes();
    options_.geometry = {64, 48, kWidth, kHeight};
    host_.count = kCount;
    // About a third of the cells are positive.
    for (std::size_t i = 0; i < coverage_.size(); ++i) {
      if (i % 3 != 0) coverage_[i] = norm_[i] = 0;
    }
    host_.coverage = coverage_;
    host_.coverage_norm = norm_;
    host_.box = box_;
  }

  Loss loss_of(const DetectionLoss& loss, const HostTargets& host) const {
    return loss.compute(bbox_, logits_, logits_.sigmoid(), loss.upload(host));
  }

  // Index of [picture][class][cell].
  static std::size_t at(std::size_t n, std::size_t c, std::size_t cell) {
    return (n * kClasses + c) * kPlane + cell;
  }

  static constexpr std::size_t kCells = kCount * kClasses * kPlane;
  LossOptions options_;
  HostTargets host_;
  std::vector<float> coverage_ = random_values(kCells, 0.1f, 1, 1), norm_ = random_values(kCells, 0.1f, 1, 2);
  std::vector<float> box_ = random_values(4 * kCells, 0.2f, 2, 3);
  const std::vector<float> bbox_values_ = random_values(4 * kCells, 0.2f, 2, 4);
  const at::Tensor bbox_ = tensor::from_values(bbox_values_, {kCount, 4 * kClasses, kHeight, kWidth});
  const at::Tensor logits_ =
      tensor::from_values(random_values(kCells, -2, 2, 5), {kCount, kClasses, kHeight, kWidth});
};

TEST_F(DetectionLossTest, ReferencesLossIsItsFormulaCellByCell) {
  const Loss loss = loss_of(DetectionLoss(options_), host_);
  const std::vector<float> p = tensor::to_values(logits_.sigmoid());
  const double class_weight[] = {1.0 / 9, 8.0 / 9}, foreground[] = {0.05, 0.2};
  double task = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    double cov = 0, box = 0;
    for (std::size_t n = 0; n < kCount; ++n) {
      for (std::size_t cell = 0; cell < kPlane; ++cell) {
        const std::size_t i = at(n, c, cell);
        const double t = coverage_[i];
        const double f = t > 0.5 ? foreground[c] : 1 - foreground[c];
        cov += -f * (t * std::log(p[i] + 1e-5) + (1 - t) * std::log(1 - p[i] + 1e-5));
        for (std::size_t e = 0; e < 4; ++e) {
          const std::size_t j = ((n * kClasses + c) * 4 + e) * kPlane + cell;
          box += norm_[i] * std::abs(bbox_values_[j] - box_[j]);
        }
      }
    }
    cov /= kCount * kPlane;
    box /= 4 * kCount * kPlane;
    EXPECT_NEAR(tensor::to_values(loss.mean_costs)[2 * c], cov, 1e-6);
    EXPECT_NEAR(tensor::to_values(loss.mean_costs)[2 * c + 1], box, 1e-6);
    task += class_weight[c] * (cov / 11 + box * 10 / 11);
  }
  EXPECT_NEAR(tensor::to_number(loss.task), task, 1e-6);
}

TEST_F(DetectionLossTest, CoverageCanWeighTheBoxes) {
  options_.cost.set_box_weighting(spec::CostFunctionConfig::COVERAGE);
  const Loss by_coverage = loss_of(DetectionLoss(options_), host_);
  host_.coverage_norm = coverage_;
  options_.cost.set_box_weighting(spec::CostFunctionConfig::COVERAGE_NORM);
  EXPECT_EQ(tensor::to_number(by_coverage.task),
            tensor::to_number(loss_of(DetectionLoss(options_), host_).task));
}

TEST_F(DetectionLossTest, PositivesNormaliseByTheSumOfTargets) {
  options_.cost.set_coverage_loss(spec::CostFunctionConfig::QUALITY_FOCAL);
  const double cells = kCount * kPlane;
  const std::vector<float> means = tensor::to_values(loss_of(DetectionLoss(options_), host_).mean_costs);
  options_.cost.set_normalization(spec::CostFunctionConfig::POSITIVES);
  const Loss loss = loss_of(DetectionLoss(options_), host_);
  const std::vector<float> sums = tensor::to_values(loss.mean_costs);
  double coverage = 0, norm = 0;
  for (const float v : coverage_) coverage += v;
  for (const float v : norm_) norm += v;
  EXPECT_NEAR(sums[0], means[0] * cells / coverage, 1e-5);
  EXPECT_NEAR(sums[3], means[3] * cells / norm, 1e-5);
  const double task = (sums[0] + 10 * sums[1] + 8 * sums[2] + 80 * sums[3]) / (9 * 11);
  EXPECT_NEAR(tensor::to_number(loss.task), task, 1e-4);
}

TEST_F(DetectionLossTest, BatchWithoutObjectsCostsCoverageOnlyAndIsFinite) {
  std::fill(coverage_.begin(), coverage_.end(), 0.0f);
  std::fill(norm_.begin(), norm_.end(), 0.0f);
  std::fill(box_.begin(), box_.end(), 0.0f);
  for (const auto normalization : {spec::CostFunctionConfig::CELLS, spec::CostFunctionConfig::POSITIVES}) {
    options_.cost.set_normalization(normalization);
    auto* box_loss = options_.cost.mutable_box_loss();
    box_loss->set_ciou(1);
    box_loss->set_giou(1);
    const at::Tensor bbox = bbox_.clone().set_requires_grad(true);
    const DetectionLoss loss(options_);
    const Loss result = loss.compute(bbox, logits_, logits_.sigmoid(), loss.upload(host_));
    EXPECT_GT(tensor::to_number(result.task), 0);
    EXPECT_EQ(tensor::to_values(result.mean_costs)[1], 0);
    for (const float slope : tensor::to_values(torch::autograd::grad({result.task}, {bbox})[0]))
      EXPECT_EQ(slope, 0);
  }
}

TEST_F(DetectionLossTest, BoxPartsAddUpWithTheirFactors) {
  const auto box_cost = [&](float l1, float giou, float ciou) {
    auto* parts = options_.cost.mutable_box_loss();
    parts->set_l1(l1);
    parts->set_giou(giou);
    parts->set_ciou(ciou);
    return tensor::to_values(loss_of(DetectionLoss(options_), host_).mean_costs)[1];
  };
  EXPECT_NEAR(box_cost(2, 3, 1), 2 * box_cost(1, 0, 0) + 3 * box_cost(0, 1, 0) + box_cost(0, 0, 1), 1e-5);
  EXPECT_EQ(box_cost(0, 0, 0), 0);
}

TEST_F(DetectionLossTest, MaskTakesCellsOutOfCostAndGradient) {
  std::vector<float> mask(kCells, 1.0f);
  mask[at(1, 0, 5)] = 0;
  host_.coverage_mask = mask;
  host_.box_mask = mask;
  const at::Tensor logits = logits_.clone().set_requires_grad(true),
                   bbox = bbox_.clone().set_requires_grad(true);
  const DetectionLoss loss(options_);
  const Loss result = loss.compute(bbox, logits, logits.sigmoid(), loss.upload(host_));
  const auto slopes = torch::autograd::grad({result.task}, {logits, bbox});
  EXPECT_EQ(tensor::to_values(slopes[0])[at(1, 0, 5)], 0);
  EXPECT_NE(tensor::to_values(slopes[0])[at(1, 1, 5)], 0);
  EXPECT_NE(tensor::to_values(slopes[0])[at(0, 0, 5)], 0);
}

TEST_F(DetectionLossTest, SourceWeightOfTwoDoublesAPicturesCost) {
  std::vector<float> mask(kCells, 0.0f);
  std::fill(mask.begin() + kCells / 2, mask.end(), 1.0f);
  host_.coverage_mask = host_.box_mask = mask;
  const double once = tensor::to_number(loss_of(DetectionLoss(options_), host_).task);
  for (float& v : mask) v *= 2;
  EXPECT_NEAR(tensor::to_number(loss_of(DetectionLoss(options_), host_).task), 2 * once, 1e-6);
}

TEST_F(DetectionLossTest, EpochChangesTheWeightsAndBeginsTheSumsAgain) {
  options_.cost.set_enable_autoweighting(true);
  options_.cost.set_max_objective_weight(0.9f);
  DetectionLoss loss(options_);
  const double before = tensor::to_number(loss_of(loss, host_).task);
  for (int step = 0; step < 3; ++step) loss.add_costs(loss_of(loss, host_));
  const auto sums = loss.take_cost_sums();
  EXPECT_NEAR(sums[1][kBox], 3 * tensor::to_values(loss_of(loss, host_).mean_costs)[3], 1e-5);
  loss.update_weights(sums);
  EXPECT_NE(tensor::to_number(loss_of(loss, host_).task), before);
  EXPECT_EQ(loss.take_cost_sums()[0][kCoverage], 0);
}

TEST_F(DetectionLossTest, StateSurvivesACheckpointInsideAnEpoch) {
  options_.cost.set_enable_autoweighting(true);
  options_.cost.set_max_objective_weight(0.9f);
  DetectionLoss loss(options_), resumed(options_);
  loss.add_costs(loss_of(loss, host_));
  loss.update_weights({{0.5, 0.1}, {0.2, 0.3}});
  resumed.set_state(loss.state());
  EXPECT_EQ(tensor::to_number(loss_of(resumed, host_).task), tensor::to_number(loss_of(loss, host_).task));
  EXPECT_EQ(resumed.take_cost_sums(), loss.take_cost_sums());
  EXPECT_THROW(resumed.set_state({1}), base::CheckFailed);
}

TEST_F(DetectionLossTest, TaskAlignedLossIsMadeFromTruths) {
  auto* config = options_.cost.mutable_task_aligned();
  config->set_top_k(10);
  config->set_iou_power(6);
  config->set_coverage_power(1);
  config->set_min_radius(1);
  config->set_coverage_weight(1);
  config->set_ciou_weight(2.5f);
  const DetectionLoss loss(options_);
  EXPECT_TRUE(loss.task_aligned());
  EXPECT_THROW(loss.upload(host_), base::CheckFailed) << "it has no truths";
  const PaddedTruths truths = pad_truths({{{.box = {5, 5, 40, 30}, .class_index = 1}}, {}});
  host_.truths = &truths;
  const Loss result = loss_of(loss, host_);
  const TaskAlignedCosts costs =
      task_aligned_costs(bbox_, logits_, loss.upload(host_).truths, options_.geometry, options_.coding,
                         options_.cost.task_aligned());
  EXPECT_EQ(tensor::to_number(result.task), tensor::to_number(costs.total));
  EXPECT_EQ(tensor::to_values(result.mean_costs), tensor::to_values(costs.class_costs));
  host_.count = 3;
  EXPECT_THROW(loss.upload(host_), base::CheckFailed) << "truths of two pictures";
}

TEST_F(DetectionLossTest, GridOfAnotherSizeIsOurMistake) {
  const DetectionLoss loss(options_);
  const at::Tensor wide = at::zeros({kCount, 4 * kClasses, kHeight, kWidth + 1});
  EXPECT_THROW(loss.compute(wide, logits_, logits_, loss.upload(host_)), base::CheckFailed);
  host_.coverage = host_.coverage.first(5);
  EXPECT_THROW(loss.upload(host_), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::loss
