// Coverage costs, box costs, regulariser, auto-weighting: each against its formula.

#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.h"
#include "loss/auto_weighting.h"
#include "loss/box_loss.h"
#include "loss/coverage_loss.h"
#include "loss/regulariser.h"
#include "tensor/array.h"

namespace maskfit::loss {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

at::Tensor row(const std::vector<float>& values) {
  return tensor::from_values(values, {static_cast<std::int64_t>(values.size())});
}

// One box as [1][1][4][1][1].
at::Tensor box(float l, float t, float r, float b) {
  const std::vector<float> values = {l, t, r, b};
  return tensor::from_values(values, {1, 1, 4, 1, 1});
}

using BoxCost = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

double cost_of(BoxCost cost, const at::Tensor& prediction, const at::Tensor& target) {
  return tensor::to_number(cost(prediction, target));
}

// Checks autograd's slope of each box number against a central difference.
void expect_slopes(BoxCost cost, const at::Tensor& prediction, const at::Tensor& target) {
  const at::Tensor p = prediction.to(at::kDouble).set_requires_grad(true), t = target.to(at::kDouble);
  const at::Tensor slopes = torch::autograd::grad({cost(p, t).sum()}, {p})[0].flatten();
  for (std::int64_t i = 0; i < 4; ++i) {
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
      at::Tensor q = prediction.to(at::kDouble).clone();
      q.flatten().select(0, i).add_(by);
      return tensor::to_number(cost(q, t).sum());
    };
    EXPECT_NEAR(tensor::to_number(slopes.select(0, i)), (moved(kStep) - moved(-kStep)) / (2 * kStep), 1e-5)
        << i;
  }
}

TEST(CoverageLossTest, ForegroundIsStrictlyAboveOneHalf) {
  const at::Tensor half = row({0.5f, 0.5001f});
  const std::vector<float> cost = tensor::to_values(weighted_cross_entropy(half, half, row({0.1f})));
  EXPECT_NEAR(cost[0], 0.9 * std::numbers::ln2, 1e-4);
  EXPECT_NEAR(cost[1], 0.1 * std::numbers::ln2, 1e-4);
}

TEST(CoverageLossTest, SureAndWrongIsFiniteInAllThree) {
  const at::Tensor logits = row({200, -200}), target = row({0, 1});
  for (const float v : tensor::to_values(weighted_cross_entropy(logits.sigmoid(), target, row({0.5f})))) {
    EXPECT_TRUE(std::isfinite(v));
  }
  EXPECT_THAT(tensor::to_values(cross_entropy(logits, target)), ElementsAre(200, 200));
  EXPECT_THAT(tensor::to_values(quality_focal(logits, target, 2)), ElementsAre(200, 200));
}

TEST(CoverageLossTest, QualityFocalVanishesWhereTheSoftTargetIsMet) {
  const at::Tensor logit = row({std::log(0.7f / 0.3f), 0.0f}), target = row({0.7f, 1.0f});
  const std::vector<float> cost = tensor::to_values(quality_focal(logit, target, 2));
  EXPECT_NEAR(cost[0], 0, 1e-9);
  EXPECT_NEAR(cost[1], 0.25 * std::numbers::ln2, 1e-6);
}

TEST(CoverageLossTest, GammaZeroIsPlainCrossEntropy) {
  const at::Tensor logit = row({0.3f, -2.0f, 1.0f}), target = row({0.2f, 0.9f, 0.0f});
  EXPECT_EQ(tensor::to_values(quality_focal(logit, target, 0)),
            tensor::to_values(cross_entropy(logit, target)));
}

TEST(BoxLossTest, PerfectBoxCostsNothing) {
  const at::Tensor b = box(10, 20, 30, 5);
  for (const BoxCost cost : {box_l1, box_giou, box_ciou}) EXPECT_NEAR(cost_of(cost, b, b), 0, 1e-6);
}

TEST(BoxLossTest, L1IsTheMeanOfFour) {
  EXPECT_NEAR(cost_of(box_l1, box(1, 2, 3, 4), box(2, 4, 6, 8)), 2.5, 1e-6);
}

TEST(BoxLossTest, GiouAgreesWithBoxes) {
  // Half overlap: [0,20]x[0,20] and [10,30]x[0,20]. IoU 1/3, enclosing 600, union 600.
  EXPECT_NEAR(cost_of(box_giou, box(0, 0, 20, 20), box(-10, 0, 30, 20)), 1 - 1.0 / 3, 1e-6);
  // Apart: [0,10]x[0,10] and [20,30]x[0,10]. Enclosing 300, union 200: GIoU = -1/3.
  EXPECT_NEAR(cost_of(box_giou, box(0, 0, 10, 10), box(-20, 0, 30, 10)), 1 + 1.0 / 3, 1e-6);
}

TEST(BoxLossTest, CiouPunishesDistanceAndAspect) {
  // Apart as above: centres 20 apart, enclosing diagonal squared 900 + 100.
  EXPECT_NEAR(cost_of(box_ciou, box(0, 0, 10, 10), box(-20, 0, 30, 10)), 1 + 400.0 / 1000, 1e-6);
  // One inside the other with another aspect: [-10,10]x[-20,20] in [-20,20]x[-20,20].
  const double v = 4 / (std::numbers::pi * std::numbers::pi) * std::pow(std::atan(1.0) - std::atan(0.5), 2);
  const double iou = 0.5, alpha = v / (1 - iou + v);
  EXPECT_NEAR(cost_of(box_ciou, box(10, 20, 10, 20), box(20, 20, 20, 20)), 1 - iou + alpha * v, 1e-6);
}

TEST(BoxLossTest, InsideOutPredictionIsFiniteAndPullsTheEdgesApart) {
  for (const BoxCost cost : {box_giou, box_ciou}) {
    const at::Tensor p = box(-10, -10, -10, -10).set_requires_grad(true);
    const at::Tensor value = cost(p, box(10, 10, 10, 10));
    EXPECT_GE(tensor::to_number(value), 1);
    const at::Tensor slopes = torch::autograd::grad({value.sum()}, {p})[0];
    for (const float s : tensor::to_values(slopes)) EXPECT_TRUE(std::isfinite(s));
  }
}

TEST(BoxLossTest, SlopesAgreeWithDifferences) {
  for (const BoxCost cost : {box_l1, box_giou}) {
    expect_slopes(cost, box(11, 19, 32, 7), box(10, 20, 30, 5));
  }
  // CIoU holds alpha fixed, so its slope is that of the cost only where the aspects agree (v = 0).
  expect_slopes(box_ciou, box(12, 8, 8, 12), box(10, 10, 10, 10));
}

spec::RegularizerConfig regulariser(spec::RegularizerConfig::RegularizationType type, float weight) {
  spec::RegularizerConfig config;
  config.set_type(type);
  config.set_weight(weight);
  return config;
}

class RegulariserTest : public ::testing::Test {
 protected:
  const std::vector<std::string> names_ = {"c/kernel", "c/bias", "b/gamma", "b/beta"};
  const std::vector<at::Tensor> parameters_ = {row({1, -2, 0}), row({-3}), row({100}), row({100})};
  const std::vector<at::Tensor> gradients_ = {row({1, 1, 1}), row({1}), row({1}), row({1})};
};

TEST_F(RegulariserTest, L1CountsKernelsAndBiasesButNoBatchNorm) {
  const Regulariser l1(regulariser(spec::RegularizerConfig::L1, 0.5f));
  EXPECT_NEAR(tensor::to_number(l1.cost(names_, parameters_)), 0.5 * 6, 1e-6);
  l1.add_gradients(names_, parameters_, gradients_);
  EXPECT_THAT(tensor::to_values(gradients_[0]), ElementsAre(1.5f, 0.5f, 1.0f));
  EXPECT_THAT(tensor::to_values(gradients_[1]), ElementsAre(0.5f));
  EXPECT_THAT(tensor::to_values(gradients_[2]), ElementsAre(1.0f));
}

TEST_F(RegulariserTest, L2HasNoHalf) {
  const Regulariser l2(regulariser(spec::RegularizerConfig::L2, 0.5f));
  EXPECT_NEAR(tensor::to_number(l2.cost(names_, parameters_)), 0.5 * 14, 1e-5);
  l2.add_gradients(names_, parameters_, gradients_);
  EXPECT_THAT(tensor::to_values(gradients_[0]), ElementsAre(2.0f, -1.0f, 1.0f));
  EXPECT_THAT(tensor::to_values(gradients_[3]), ElementsAre(1.0f));
}

TEST_F(RegulariserTest, NoneCostsNothingAndChangesNothing) {
  const Regulariser none(regulariser(spec::RegularizerConfig::NO_REG, 0.5f));
  EXPECT_EQ(tensor::to_number(none.cost(names_, parameters_)), 0);
  none.add_gradients(names_, parameters_, gradients_);
  EXPECT_THAT(tensor::to_values(gradients_[0]), ElementsAre(1, 1, 1));
  EXPECT_EQ(
      tensor::to_number(Regulariser(regulariser(spec::RegularizerConfig::L1, 0)).cost(names_, parameters_)),
      0);
}

spec::CostFunctionConfig two_classes() {
  spec::CostFunctionConfig config;
  for (const float weight : {1.0f, 3.0f}) {
    auto* target_class = config.add_target_classes();
    target_class->set_name(weight == 1 ? "mask" : "no-mask");
    target_class->set_class_weight(weight);
    for (const char* name : {"bbox", "cov"}) {  // not in our order
      auto* objective = target_class->add_objectives();
      objective->set_name(name);
      objective->set_initial_weight(std::string(name) == "cov" ? 1.0f : 4.0f);
      objective->set_weight_target(1);
    }
  }
  return config;
}

TEST(AutoWeightingTest, WeightsAreSharesWhateverTheirOrderInTheSpec) {
  const AutoWeighting weighting(two_classes());
  EXPECT_NEAR(weighting.factor(1, kCoverage), 0.75 * 0.2, 1e-12);
  EXPECT_NEAR(weighting.factor(0, kBox), 0.25 * 0.8, 1e-12);
}

TEST(AutoWeightingTest, DisabledKeepsItsWeights) {
  AutoWeighting weighting(two_classes());
  const auto before = weighting.state();
  weighting.update({{1.0, 5.0}, {1.0, 5.0}});
  EXPECT_EQ(weighting.state(), before);
}

TEST(AutoWeightingTest, UnsetMaximumClampsToZeroAsInTheReference) {
  spec::CostFunctionConfig config = two_classes();
  config.set_enable_autoweighting(true);
  AutoWeighting weighting(config);
  weighting.update({{1.0, 5.0}, {1.0, 5.0}});
  EXPECT_THAT(weighting.state(), ElementsAre(0, 0, 0, 0));
}

TEST(AutoWeightingTest, MissingDoubleOrUnknownObjectiveNamesTheClass) {
  const auto message = [](const std::function<void(spec::CostFunctionConfig::TargetClass*)>& bend) {
    spec::CostFunctionConfig config = two_classes();
    bend(config.mutable_target_classes(1));
    try {
      const AutoWeighting weighting(config);
    } catch (const base::Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_THAT(message([](auto* c) { c->mutable_objectives()->RemoveLast(); }),
              HasSubstr("'no-mask': 1 objectives"));
  EXPECT_THAT(message([](auto* c) { c->mutable_objectives(0)->set_name("depth"); }), HasSubstr("'depth'"));
  EXPECT_THAT(message([](auto* c) { c->mutable_objectives(0)->set_name("cov"); }),
              HasSubstr("two objectives 'cov'"));
}

}  // namespace
}  // namespace maskfit::loss
