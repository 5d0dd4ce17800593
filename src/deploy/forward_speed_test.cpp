#include "deploy/forward_speed.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "network/backbones.h"

namespace maskfit::deploy {
namespace {

network::Network network_of(float width, int height) {
  network::BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, height, height};
  options.width = width;
  network::Network network = network::make_detectnet(options);
  network::initialise(network, 1);
  return network;
}

TEST(ForwardSpeedTest, NetworkOfAFewMultiplicationsIsFaster) {
  const std::vector<double> speeds =
      forward_speeds({network_of(1, 160), network_of(0.125f, 64)}, {.seconds = 0.2, .stop = {}});
  ASSERT_EQ(speeds.size(), 2u);
  EXPECT_GT(speeds[1], 3 * speeds[0]);  // about a hundredth of the multiplications
}

TEST(ForwardSpeedTest, StopsWhenAsked) {
  std::atomic<bool> stopped{true};
  EXPECT_THROW(forward_speeds({network_of(0.125f, 64)}, {.seconds = 10, .stop = base::StopToken(&stopped)}),
               base::Error);
}

TEST(ForwardSpeedTest, CpuIsAlwaysUsable) {
  EXPECT_EQ(usable_devices().at(0), "cpu");
}

}  // namespace
}  // namespace maskfit::deploy
