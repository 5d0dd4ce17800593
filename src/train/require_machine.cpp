#include "train/require_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "hardware/gpu.h"
#include "hardware/memory.h"
#include "model/memory_need.h"
#include "tensor/device.h"
#include "train/build_network.h"

namespace maskfit::train {
namespace {

// Of the device, as far as can be told: the largest GPU for CUDA, because NVML's order need not be CUDA's. 0:
// unknown.
double memory_of(const std::string& device) {
  if (device == "cpu") return static_cast<double>(hardware::inspect_memory().usable_bytes());
  double largest = 0;
  for (const hardware::Gpu& gpu : hardware::inspect_gpus().gpus) {
    largest = std::max(largest, static_cast<double>(gpu.total_bytes));
  }
  return largest;
}

void require_memory(const network::Network& network, const spec::Experiment& experiment,
                    const std::string& device, double bytes) {
  const model::MemoryNeed need =
      model::training_memory(network, detector_options(experiment, device).precision);
  const std::uint32_t batch = experiment.training_config().batch_size_per_gpu();
  const double wanted = need.fixed + need.per_picture * batch;
  if (wanted <= bytes) return;
  const std::int64_t fits = model::largest_batch(need, bytes);
  const auto text = [](double size) {
    return hardware::format_bytes(static_cast<std::int64_t>(std::min(size, 9e18)));
  };
  throw base::Error(
      base::ExitCode::kMachine,
      fmt::format("a step of {} pictures of {}x{} needs at least {} of memory, {} has {}", batch,
                  network.input.width, network.input.height, text(wanted), device, text(bytes)),
      "--batch",
      fits > 0 ? fmt::format("--batch {} or fewer could fit", fits)
               : "not even one picture fits; use a smaller --size or a smaller backbone");
}

}  // namespace

void require_memory(const spec::Experiment& experiment, const std::string& device, double bytes) {
  require_memory(build_network(experiment), experiment, device, bytes);
}

void require_device(const std::string& device) {
  tensor::device_from_name(device);
}

void require_machine(const spec::Experiment& experiment, const std::string& device) {
  require_device(device);
  const network::Network network = build_network(experiment);
  if (const double bytes = memory_of(device); bytes > 0) require_memory(network, experiment, device, bytes);
  // The detector knows best what else it refuses: a precision of this device, blocks to freeze.
  const model::Detector detector(network, detector_options(experiment, device));
}

}  // namespace maskfit::train
