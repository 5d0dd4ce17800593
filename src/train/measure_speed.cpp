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

// A part of a side, rounded up to a whole cell.
int part_of_side(int side, int part) {
  return std::max(64, (side / part + 15) / 16 * 16);
}

double macs_of(const network::Network& network) {
  return static_cast<double>(network::count(network).macs);
}

// A step at the full size from one at a part of it. What does not grow with the pixels, the starting and
// joining of threads above all, is a large share of a small step, and on a busy machine nearly all of it: so
// a second, larger probe tells it from what does grow.
Timing scale_up(const std::function<network::Network(int width, int height)>& make,
                const network::Network& full, const network::Network& small, const Timing& small_step,
                const SpeedOptions& options) {
  const double simple = small_step.seconds_a_step * macs_of(full) / macs_of(small);
  const network::Network larger = make(part_of_side(full.input.width, 2), part_of_side(full.input.height, 2));
  const double growth = macs_of(larger) - macs_of(small);
  const double foreseen = 2 * small_step.seconds_a_step * macs_of(larger) / macs_of(small);
  if (growth <= 0 || foreseen > options.seconds) return {simple, small_step.steps};
  const Timing step = time_steps(larger, options, options.seconds / 2);
  const double slope = std::max(0.0, step.seconds_a_step - small_step.seconds_a_step) / growth;
  const double seconds = step.seconds_a_step + slope * (macs_of(full) - macs_of(larger));
  return {slope > 0 ? seconds : step.seconds_a_step * macs_of(full) / macs_of(larger), step.steps};
}

}  // namespace

SpeedEstimate measure_speed(const std::function<network::Network(int width, int height)>& make, int width,
                            int height, const SpeedOptions& options) {
  MASKFIT_CHECK(width % 16 == 0 && height % 16 == 0 && width >= 64 && height >= 64, "{}x{}", width, height);
  const network::Network full = make(width, height);
  const network::Network probe = make(part_of_side(width, 4), part_of_side(height, 4));
  const Timing probed = time_steps(probe, options, options.seconds / 10);

  // The warm-up and one timed step have to fit.
  const bool fits = 2 * probed.seconds_a_step * macs_of(full) / macs_of(probe) < options.seconds;
  const Timing step =
      fits ? time_steps(full, options, options.seconds) : scale_up(make, full, probe, probed, options);
  return {options.batch / step.seconds_a_step, width, height, options.batch, step.steps, !fits};
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
