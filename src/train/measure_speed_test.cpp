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
