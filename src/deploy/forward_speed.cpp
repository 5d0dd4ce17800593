#include "deploy/forward_speed.h"

#include <ATen/ops/rand.h>

#include <algorithm>
#include <chrono>

#include "model/outputs.h"
#include "tensor/device.h"

namespace maskfit::deploy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFewestRounds = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A network ready to run, a batch for it, and the times of its passes.
class Runner {
 public:
  Runner(const network::Network& network, const ForwardSpeedOptions& options)
      : detector_(network, options.device, options.precision),
        images_(at::rand({options.batch, network.input.channels, network.input.height, network.input.width})
                    .to(tensor::device_from_name(options.device))) {
    detector_.fold_for_inference();
    pass();  // warms caches up, chooses convolution algorithms
    times_.clear();
  }

  void pass() {
    const Clock::time_point start = Clock::now();
    detector_.forward(images_, /*training=*/false);
    tensor::synchronise(images_.device());
    times_.push_back(seconds_since(start));
  }

  double median_seconds() {
    const auto middle = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
    std::nth_element(times_.begin(), middle, times_.end());
    return *middle;
  }

 private:
  model::Detector detector_;
  at::Tensor images_;
  std::vector<double> times_;
};

}  // namespace

std::vector<double> forward_speeds(const std::vector<network::Network>& networks,
                                   const ForwardSpeedOptions& options) {
  std::vector<Runner> runners;
  for (const network::Network& network : networks) runners.emplace_back(network, options);
  const Clock::time_point start = Clock::now();
  for (std::size_t round = 0; round < kFewestRounds || seconds_since(start) < options.seconds; ++round) {
    options.stop.throw_if_requested();
    for (Runner& runner : runners) runner.pass();
  }
  std::vector<double> speeds;
  for (Runner& runner : runners) speeds.push_back(options.batch / runner.median_seconds());
  return speeds;
}

std::vector<std::string> usable_devices() {
  std::vector<std::string> devices = {"cpu"};
  if (tensor::gpu_count() > 0) devices.emplace_back("cuda");
  return devices;
}

}  // namespace maskfit::deploy
