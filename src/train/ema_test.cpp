#include "train/ema.h"

#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tensor/array.h"
#include "train/snapshot.h"

namespace maskfit::train {
namespace {

at::Tensor scalar(float value) {
  const std::vector<float> values = {value};
  return tensor::from_values(values, {1});
}

float value_of(const at::Tensor& tensor) {
  return tensor::to_values(tensor)[0];
}

float average_of(const WeightAverage& average) {
  return to_arrays(average.tensors()).at("average/w").values[0];
}

TEST(WeightAverageTest, FollowsTheFormula) {
  const at::Tensor weight = scalar(1);
  WeightAverage average({"w"}, {weight}, 0.9);
  double expected = 1;
  for (int step = 1; step <= 20; ++step) {
    weight.fill_(static_cast<float>(step));
    average.update(step);
    const double d = 0.9 * (1 - std::exp(-step));
    expected = d * expected + (1 - d) * step;
    EXPECT_NEAR(average_of(average), expected, 1e-5);
  }
}

TEST(WeightAverageTest, DetectorHoldsTheAverageOnlyWhileInUse) {
  const at::Tensor weight = scalar(1);
  WeightAverage average({"w"}, {weight}, 0.999);
  weight.fill_(3);
  const float averaged = average_of(average);
  {
    const WeightAverage::InUse in_use(average);
    EXPECT_EQ(value_of(weight), averaged);
  }
  EXPECT_EQ(value_of(weight), 3);
  EXPECT_EQ(average_of(average), averaged);
}

TEST(WeightAverageTest, WeightsReturnWhenValidationThrows) {
  const at::Tensor weight = scalar(1);
  WeightAverage average({"w"}, {weight}, 0.999);
  weight.fill_(3);
  try {
    const WeightAverage::InUse in_use(average);
    throw std::runtime_error("disk full");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(value_of(weight), 3);
}

TEST(WeightAverageTest, DecayZeroAveragesNothing) {
  const at::Tensor weight = scalar(1);
  WeightAverage average({"w"}, {weight}, 0);
  weight.fill_(3);
  average.update(1);
  EXPECT_FALSE(average.enabled());
  EXPECT_TRUE(average.tensors().empty());
  const WeightAverage::InUse in_use(average);
  EXPECT_EQ(value_of(weight), 3);
}

TEST(WeightAverageTest, StateSurvivesACheckpoint) {
  const at::Tensor weight = scalar(1);
  WeightAverage average({"w"}, {weight}, 0.99);
  weight.fill_(2);
  average.update(300);
  WeightAverage resumed({"w"}, {weight}, 0.99);
  resumed.set_state(to_arrays(average.tensors()));
  EXPECT_EQ(average_of(resumed), average_of(average));
  try {
    resumed.set_state({});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'w'"));
  }
}

}  // namespace
}  // namespace maskfit::train
