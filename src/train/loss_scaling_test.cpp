#include "train/loss_scaling.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "tensor/array.h"

namespace maskfit::train {
namespace {

spec::CostScalingConfig config(bool enabled) {
  spec::CostScalingConfig result;
  result.set_enabled(enabled);
  result.set_initial_exponent(10);
  result.set_increment(0.5);
  result.set_decrement(2);
  return result;
}

std::vector<at::Tensor> gradients(float first) {
  const std::vector<float> a = {first, 2048}, b = {-1024};
  return {tensor::from_values(a, {2}), tensor::from_values(b, {1})};
}

TEST(LossScalingTest, DisabledTouchesNothing) {
  LossScaling scaling(config(false));
  const auto list = gradients(std::numeric_limits<float>::infinity());
  EXPECT_EQ(scaling.factor(), 1);
  EXPECT_TRUE(scaling.unscale(list));
  EXPECT_EQ(tensor::to_values(list[0])[1], 2048);
  EXPECT_EQ(scaling.bad_steps(), 0);
}

TEST(LossScalingTest, FiniteGradientsAreDividedAndTheExponentGrows) {
  LossScaling scaling(config(true));
  EXPECT_EQ(scaling.factor(), 1024);
  const auto list = gradients(512);
  EXPECT_TRUE(scaling.unscale(list));
  EXPECT_EQ(tensor::to_values(list[0]), (std::vector<float>{0.5f, 2.0f}));
  EXPECT_EQ(tensor::to_values(list[1]), (std::vector<float>{-1.0f}));
  EXPECT_DOUBLE_EQ(scaling.factor(), std::exp2(10.5));
}

TEST(LossScalingTest, InfiniteOrNanGradientsBecomeZeroAndTheExponentFalls) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    LossScaling scaling(config(true));
    const auto list = gradients(bad);
    EXPECT_FALSE(scaling.unscale(list));
    EXPECT_EQ(tensor::to_values(list[0]), (std::vector<float>{0, 0}));
    EXPECT_EQ(tensor::to_values(list[1]), (std::vector<float>{0}));
    EXPECT_EQ(scaling.factor(), 256);
    EXPECT_EQ(scaling.bad_steps(), 1);
  }
}

TEST(LossScalingTest, StateSurvivesACheckpoint) {
  LossScaling scaling(config(true));
  scaling.unscale(gradients(std::numeric_limits<float>::infinity()));
  scaling.unscale(gradients(1));
  LossScaling resumed(config(true));
  resumed.set_state(scaling.state());
  EXPECT_EQ(resumed.factor(), scaling.factor());
  EXPECT_EQ(resumed.bad_steps(), 1);
  EXPECT_THROW(resumed.set_state({1}), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::train
