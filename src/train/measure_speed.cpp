#include "train/measure_speed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "model/outputs.h"
#include "spec/defaults.h"
#include "spec/recipes.h"
#include "tensor/device.h"
#include "train/build_network.h"

namespace maskfit::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One step, until the device is done.
void step(model::Detector& detector, const at::Tensor& images) {
  const model::Outputs outputs = detector.forward(images, /*training=*/true);
  detector.backward(outputs.bbox.square().mean() + outputs.cov_logits.square().mean());
  tensor::synchronise(images.device());
}

struct Timing {
  double seconds_a_step = 0;
  int steps = 0;
};

// The median of the steps that fit into `seconds`, at least one, after a first one that warms caches up.
Timing time_steps(const network::Network& network, const SpeedOptions& options, double seconds) {
  model::Detector detector(network, options.device, options.precision);
  const at::Tensor images =
      at::rand({options.batch, network.input.channels, network.input.height, network.input.width},
               at::TensorOptions().device(tensor::device_from_name(options.device)));
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  step(detector, images);
  while (times.empty() || seconds_since(begin) + times.back() < seconds) {
    options.stop.throw_if_requested();
    const Clock::time_point start = Clock::now();
    step(detector, images);
    times.push_back(seconds_since(start));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {*middle, static_cast<int>(times.size())};
}

// A quarter of a side, rounded up to a whole cell.
int probe_side(int side) {
  return std::max(64, (side / 4 + 15) / 16 * 16);
}

}  // namespace

SpeedEstimate measure_speed(const std::function<network::Network(int width, int height)>& make, int width,
                            int height, const SpeedOptions& options) {
  MASKFIT_CHECK(width % 16 == 0 && height % 16 == 0 && width >= 64 && height >= 64, "{}x{}", width, height);
  const network::Network full = make(width, height);
  const network::Network probe = make(probe_side(width), probe_side(height));
  const Timing probed = time_steps(probe, options, /*seconds=*/0);
  const double growth =
      static_cast<double>(network::count(full).macs) / static_cast<double>(network::count(probe).macs);

  SpeedEstimate estimate{0, width, height, options.batch, probed.steps, true};
  double seconds_a_step = probed.seconds_a_step * growth;
  // The warm-up and one timed step have to fit.
  if (2 * seconds_a_step < options.seconds) {
    const Timing timing = time_steps(full, options, options.seconds);
    seconds_a_step = timing.seconds_a_step;
    estimate.steps = timing.steps;
    estimate.scaled_up = false;
  }
  estimate.images_per_second = options.batch / seconds_a_step;
  return estimate;
}

network::Network default_network(int width, int height) {
  spec::Experiment experiment = spec::recipe_experiment(spec::TrainingConfig::SCRATCH, {"mask", "no-mask"});
  auto* preprocessing = experiment.mutable_augmentation_config()->mutable_preprocessing();
  preprocessing->set_output_image_width(width);
  preprocessing->set_output_image_height(height);
  spec::apply_defaults(&experiment);
  return build_network(experiment);
}

}  // namespace maskfit::train
