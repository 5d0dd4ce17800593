// One training step of the reference's recipe on synthetic input: forward, losses, backward, regulariser,
// Adam. The yardstick is bench/pytorch_step.py with the same options; bench/train_step.sh runs both, in
// turns.
//
//   train_step [--backbone resnet18] [--size 960x544] [--batch 24] [--precision fp32|bf16|fp16] [--device
//   cpu|cuda]
//              [--threads N] [--steps N] [--blocks N] [--libtorch-norms] [--no-graph] [--no-exchange]
//
// Under torchrun, mpirun or Slurm, or with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, it is one of
// several ranks, each with --batch pictures: bench/scaling.sh. Rank 0 prints, the rate of all together.
//
// Prints one JSON line: the median images per second over the timed blocks of steps.

#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#ifdef MASKFIT_WITH_CUDA
#include <cuda_profiler_api.h>
#endif

#include "loss/detection_loss.h"
#include "loss/loss_tensors.h"
#include "loss/regulariser.h"
#include "model/detector.h"
#include "model/outputs.h"
#include "network/backbones.h"
#include "ranks/group.h"
#include "spec/defaults.h"
#include "spec/recipes.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "tensor/library.h"
#include "train/gpu_step.h"
#include "train/optimizer.h"
#include "train/rank_mean.h"

namespace {

using namespace maskfit;

struct Options {
  std::string backbone = "resnet18", size = "960x544", precision = "fp32", device = "cpu";
  int batch = 24, threads = 0, steps = 10, blocks = 5, classes = 2;
  int cudnn_tries = -1;
  bool libtorch_norms = false, no_graph = false, profile = false, no_exchange = false;
};

struct Bench {
  Bench(const Options& options, ranks::Group* group);
  void step();

  spec::Experiment experiment;
  model::Detector detector;
  loss::DetectionLoss losses;
  loss::Regulariser regulariser;
  train::Optimizer optimizer;
  at::Tensor images;
  loss::Targets targets;
  std::unique_ptr<train::GpuStep> gpu_step;  // as a training takes its steps on a GPU
  std::unique_ptr<tensor::RankMean> mean;    // of several ranks
  std::unique_ptr<train::GradientBuckets> buckets;
  std::int64_t steps = 0;
};

network::Shape input_of(const std::string& size) {
  int width = 0, height = 0;
  if (std::sscanf(size.c_str(), "%dx%d", &width, &height) != 2)
    throw std::runtime_error("--size WIDTHxHEIGHT");
  return {3, height, width};
}

spec::Experiment reference_recipe() {
  auto experiment = spec::recipe_experiment(spec::TrainingConfig::TLT, {"mask", "no-mask"});
  spec::apply_defaults(&experiment);
  return experiment;
}

network::Network make_network(const Options& options) {
  network::Network network = network::make_detectnet({.backbone = options.backbone,
                                                      .input = input_of(options.size),
                                                      .classes = options.classes,
                                                      .all_projections = true,
                                                      .neck = {}});
  network::initialise(network, 1);
  return network;
}

loss::LossOptions loss_options(const spec::Experiment& experiment, const Options& options) {
  const network::Shape input = input_of(options.size);
  return {.cost = experiment.cost_function_config(),
          .geometry = {input.width, input.height, input.width / 16, input.height / 16},
          .coding = {},
          .device = options.device};
}

at::ScalarType type_of(const std::string& precision) {
  return precision == "bf16" ? at::kBFloat16 : precision == "fp16" ? at::kHalf : at::kFloat;
}

model::DetectorOptions detector_options(const Options& options) {
  model::DetectorOptions detector;
  detector.device = options.device;
  detector.precision = model::precision_from_name(options.precision);
  if (options.libtorch_norms) detector.kernels = model::Kernels::kLibTorch;
  return detector;
}

Bench::Bench(const Options& options, ranks::Group* group)
    : experiment(reference_recipe()),
      detector(make_network(options), detector_options(options)),
      losses(loss_options(experiment, options)),
      regulariser(experiment.training_config().regularizer()),
      optimizer(experiment.training_config().optimizer(), detector.parameter_names(), detector.parameters()) {
  if (group != nullptr && !options.no_exchange) {
    mean = train::make_rank_mean(*group, options.device);
    buckets = std::make_unique<train::GradientBuckets>(detector.parameters(), *mean);
    detector.on_gradient(
        [this](std::size_t index, const at::Tensor& gradient) { buckets->take(index, gradient); });
  }
  const network::Shape input = input_of(options.size);
  images = at::rand({options.batch, 3, input.height, input.width},
                    at::TensorOptions().device(tensor::device_from_name(options.device)));
  // As a training's pixels come from the kernel that warps them.
  if (images.is_cuda())
    images = images.to(type_of(options.precision)).contiguous(at::MemoryFormat::ChannelsLast);
  const std::size_t planes = static_cast<std::size_t>(options.batch) * options.classes;
  const std::size_t cells = static_cast<std::size_t>(input.height / 16) * (input.width / 16);
  std::vector<float> coverage(planes * cells), box(planes * cells * 4);
  for (std::size_t i = 0; i < coverage.size(); ++i) coverage[i] = i % 33 == 0 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = static_cast<float>(i % 17) / 8 - 1;
  loss::HostTargets host;
  host.count = options.batch;
  host.coverage = coverage;
  host.coverage_norm = coverage;
  host.box = box;
  targets = losses.upload(host);
  if (train::GpuStep::possible(detector)) {
    gpu_step = std::make_unique<train::GpuStep>(train::StepParts{.detector = detector,
                                                                 .loss = losses,
                                                                 .regulariser = regulariser,
                                                                 .optimizer = optimizer,
                                                                 .mean = mean.get(),
                                                                 .buckets = buckets.get(),
                                                                 .graph = !options.no_graph});
  }
}

void Bench::step() {
  ++steps;
  if (gpu_step) {
    gpu_step->take(images, targets, {.learning_rate = 1e-4, .norm_limit = 1e30, .step = steps});
    return;
  }
  const model::Outputs outputs = detector.forward(images, /*training=*/true);
  const loss::Loss loss = losses.compute(outputs.bbox, outputs.cov_logits, outputs.cov, targets);
  std::vector<at::Tensor> gradients = detector.backward(loss.task);
  if (buckets) buckets->finish(gradients);
  regulariser.add_gradients(detector.parameter_names(), detector.parameters(), gradients);
  losses.add_costs(loss);
  optimizer.step(gradients, 1e-4);
}

double images_per_second(Bench& bench, const Options& options, ranks::Group* group) {
  tensor::synchronise(bench.images.device());
  if (group != nullptr) group->any(false);  // all begin together
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < options.steps; ++i) bench.step();
  tensor::synchronise(bench.images.device());
  if (group != nullptr) group->any(false);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const int ranks = group == nullptr ? 1 : group->size();
  return options.steps * options.batch * ranks / seconds.count();
}

// For `ncu --profile-from-start off`.
void step_under_profiler([[maybe_unused]] Bench& bench) {
#ifdef MASKFIT_WITH_CUDA
  tensor::synchronise(bench.images.device());
  cudaProfilerStart();
  bench.step();
  tensor::synchronise(bench.images.device());
  cudaProfilerStop();
#endif
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("One training step on synthetic input");
  app.add_option("--backbone", options.backbone);
  app.add_option("--size", options.size);
  app.add_option("--batch", options.batch);
  app.add_option("--precision", options.precision);
  app.add_option("--device", options.device);
  app.add_option("--threads", options.threads);
  app.add_option("--steps", options.steps);
  app.add_option("--blocks", options.blocks);
  app.add_flag("--libtorch-norms", options.libtorch_norms, "batch norms and first convolution by LibTorch");
  app.add_flag("--profile", options.profile,
               "after the timing, one step between cudaProfilerStart and -Stop");
  app.add_flag("--no-graph", options.no_graph, "launch the kernels of a step one by one");
  app.add_option("--cudnn-tries", options.cudnn_tries,
                 "algorithms that cuDNN times for a convolution; 0: all");
  app.add_flag("--no-exchange", options.no_exchange, "several ranks that do not average their gradients");
  CLI11_PARSE(app, argc, argv);
  std::unique_ptr<ranks::Group> group;
  if (const auto place = ranks::place_from_environment([](const char* name) { return std::getenv(name); })) {
    group = std::make_unique<ranks::Group>(*place);
    if (options.device == "cuda") options.device += ":" + std::to_string(place->local_rank);
  }
  if (options.threads > 0) tensor::use_threads(options.threads);
  if (options.cudnn_tries >= 0) at::globalContext().setBenchmarkLimitCuDNN(options.cudnn_tries);

  Bench bench(options, group.get());
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < (options.device == "cpu" ? 1 : 5); ++i) bench.step();
  tensor::synchronise(bench.images.device());
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - before;
  std::vector<double> rates;
  for (int i = 0; i < options.blocks; ++i) rates.push_back(images_per_second(bench, options, group.get()));
  if (options.profile) step_under_profiler(bench);
  if (group && !group->is_first()) return 0;
  std::sort(rates.begin(), rates.end());
  const auto facts = tensor::library_facts();
  std::printf("%s\n", nlohmann::json{{"what", "maskfit"},
                                     {"version", facts.version},
                                     {"device", options.device},
                                     {"threads", facts.threads},
                                     {"backbone", options.backbone},
                                     {"size", options.size},
                                     {"batch", options.batch},
                                     {"precision", options.precision},
                                     {"libtorch_norms", options.libtorch_norms},
                                     {"graph", bench.gpu_step != nullptr && !options.no_graph},
                                     {"ranks", group ? group->size() : 1},
                                     {"exchange", bench.mean != nullptr},
                                     {"images_per_second", rates[rates.size() / 2]},
                                     {"min", rates.front()},
                                     {"max", rates.back()},
                                     {"first_steps_seconds", first.count()}}
                          .dump()
                          .c_str());
}
