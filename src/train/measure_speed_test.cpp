#include "train/measure_speed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/error.h"
#include "network/backbones.h"

namespace maskfit::train {
namespace {

network::Network small_network(int width, int height) {
  network::BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, height, width};
  network::Network network = network::make_detectnet(options);
  network::initialise(network, 1);
  return network;
}

TEST(MeasureSpeed, MeasuresTheFullSizeWhenItFits) {
  SpeedOptions options;
  options.seconds = 0.5;
  options.batch = 2;
  std::vector<int> widths;
  const SpeedEstimate estimate = measure_speed(
      [&](int width, int height) {
        widths.push_back(width);
        return small_network(width, height);
      },
      64, 64, options);
  EXPECT_EQ(widths, (std::vector<int>{64, 64}));
  EXPECT_GT(estimate.images_per_second, 0);
  EXPECT_EQ(estimate.batch, 2);
  EXPECT_GE(estimate.steps, 1);
}

TEST(MeasureSpeed, ScalesAProbeUpWhenOneStepWouldTakeTooLong) {
  SpeedOptions options;
  options.seconds = 1e-6;
  const SpeedEstimate estimate = measure_speed(small_network, 256, 128, options);
  EXPECT_TRUE(estimate.scaled_up);
  EXPECT_EQ(estimate.width, 256);
  EXPECT_GT(estimate.images_per_second, 0);
}

// What a small step costs whatever its size must not be multiplied: the estimate of a size that does not fit
// is near what is measured when it does. Within a factor, for the machine may be busy.
TEST(MeasureSpeed, AnEstimateFromProbesIsOfTheMeasurementsOrder) {
  SpeedOptions options;
  options.seconds = 30;
  const SpeedEstimate measured = measure_speed(small_network, 256, 256, options);
  ASSERT_FALSE(measured.scaled_up);
  const SpeedEstimate probe = measure_speed(small_network, 128, 128, {.seconds = 1});
  options.seconds =
      0.9 / probe.images_per_second * 4;  // one step at 256 x 256 fits, a warm-up and one do not
  const SpeedEstimate estimate = measure_speed(small_network, 256, 256, options);
  EXPECT_GT(estimate.images_per_second, measured.images_per_second / 8);
  EXPECT_LT(estimate.images_per_second, measured.images_per_second * 8);
}

TEST(MeasureSpeed, StopsWhenAsked) {
  std::atomic<bool> flag{true};
  SpeedOptions options;
  options.stop = base::StopToken(&flag);
  EXPECT_THROW(measure_speed(small_network, 64, 64, options), base::Error);
}

TEST(DefaultNetwork, HasTheInputAskedForAndTwoClasses) {
  const network::Network network = default_network(128, 64);
  EXPECT_EQ(network.input, (network::Shape{3, 64, 128}));
  EXPECT_EQ(network::infer_shapes(network).at("output_cov/Sigmoid").channels, 2);
}

}  // namespace
}  // namespace maskfit::train
