// A recorded step with the fused kernels against the same recipe by LibTorch's operations, launched one by
// one.

#include "train/gpu_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "loss/loss_tensors.h"
#include "network/backbones.h"
#include "spec/defaults.h"
#include "spec/recipes.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "train/rank_mean.h"

namespace maskfit::train {
namespace {

struct Setup {
  model::Precision precision = model::Precision::kFloat32;
  model::Kernels kernels = model::Kernels::kBest;
  bool graph = true, task_aligned = false;
  std::string neck = {};
  bool all_projections = true;
  float width = 1;
  bool with_ranks = false;  // gradients and costs go through NCCL, of one rank
};

spec::Experiment experiment_of(const Setup& setup) {
  auto recipe = setup.task_aligned ? spec::TrainingConfig::SCRATCH : spec::TrainingConfig::TLT;
  auto experiment = spec::recipe_experiment(recipe, {"mask", "no-mask"});
  spec::apply_defaults(&experiment);
  return experiment;
}

network::Network network_of(const Setup& setup) {
  network::Network network = network::make_detectnet({.backbone = "resnet10",
                                                      .input = {3, 96, 160},
                                                      .classes = 2,
                                                      .all_projections = setup.all_projections,
                                                      .width = setup.width,
                                                      .neck = setup.neck});
  network::initialise(network, 1);
  return network;
}

// What a few steps leave: their numbers, the weights and the averages, one after the other.
struct Result {
  at::Tensor numbers, weights, averages;
};

Result train_a_little(const Setup& setup, int steps) {
  const spec::Experiment experiment = experiment_of(setup);
  model::Detector detector(network_of(setup),
                           {.device = "cuda", .precision = setup.precision, .kernels = setup.kernels});
  ranks::Group group({});
  std::unique_ptr<tensor::RankMean> mean;
  std::unique_ptr<GradientBuckets> buckets;
  if (setup.with_ranks) {
    mean = make_rank_mean(group, "cuda");
    buckets = std::make_unique<GradientBuckets>(detector.parameters(), *mean, 1 << 20);
    detector.on_gradient([&](std::size_t i, const at::Tensor& gradient) { buckets->take(i, gradient); });
  }
  const int stride = setup.neck.empty() ? 16 : 8;
  const boxes::GridGeometry geometry{160, 96, 160 / stride, 96 / stride};
  loss::DetectionLoss losses({.cost = experiment.cost_function_config(),
                              .geometry = geometry,
                              .coding = {},
                              .device = "cuda",
                              .ranks = mean.get()});
  const loss::Regulariser regulariser(experiment.training_config().regularizer());
  Optimizer optimizer(experiment.training_config().optimizer(), detector.parameter_names(),
                      detector.parameters());
  std::vector<std::string> names = detector.parameter_names();
  std::vector<at::Tensor> tensors = detector.parameters();
  for (const std::string& name : detector.buffer_names()) names.push_back(name);
  for (const at::Tensor& buffer : detector.buffers()) tensors.push_back(buffer);
  WeightAverage average(names, tensors, 0.99);
  GpuStep step({.detector = detector,
                .loss = losses,
                .regulariser = regulariser,
                .optimizer = optimizer,
                .average = &average,
                .clip_norm = 10,
                .mean = mean.get(),
                .buckets = buckets.get(),
                .graph = setup.graph});
  at::manual_seed(3);
  std::vector<at::Tensor> numbers;
  for (int i = 0; i < steps; ++i) {
    const at::Tensor images = at::rand({4, 3, 96, 160}).to(at::kCUDA);
    loss::HostTargets host;
    host.count = 4;
    const std::size_t cells = 4 * 2 * static_cast<std::size_t>(geometry.cells());
    std::vector<float> coverage(cells), box(cells * 4);
    for (std::size_t k = 0; k < cells; ++k) coverage[k] = (k + i) % 7 == 0 ? 1.0f : 0.0f;
    for (std::size_t k = 0; k < box.size(); ++k) box[k] = static_cast<float>((k + i) % 17) / 8;
    host.coverage = host.coverage_norm = coverage;
    host.box = box;
    std::vector<boxes::Truths> truths(4);
    for (int n = 0; n < 4; ++n) {
      for (int t = 0; t < 1 + (i + n) % 11; ++t) {  // more than one room of slots
        truths[n].push_back({{10.0f + 9 * t, 8, 50.0f + 9 * t, 60}, t % 2, false});
      }
    }
    const loss::PaddedTruths padded = loss::pad_truths(truths);
    host.truths = &padded;
    numbers.push_back(
        step.take(images, losses.upload(host), {.learning_rate = 1e-3, .norm_limit = 1e9, .step = i + 1}));
  }
  const auto joined = [](const std::vector<at::Tensor>& list) {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& tensor : list) flat.push_back(tensor.reshape(-1));
    return at::cat(flat).to(at::kCPU).to(at::kDouble);
  };
  return {at::stack(numbers).to(at::kCPU).to(at::kDouble), joined(tensors), joined(average.averages())};
}

double relative_error(const at::Tensor& actual, const at::Tensor& wanted) {
  return tensor::to_number(actual.sub(wanted).norm().div(wanted.norm().add(1e-12)));
}

// `rounding`: of the first step's numbers, from equal weights. Later ones differ more, for Adam turns the
// sign of a tiny gradient into a whole step.
void expect_same_training(Setup setup, double rounding) {
  if (tensor::gpu_count() == 0) GTEST_SKIP() << "no GPU that this build can use";
  constexpr int kSteps = 7;
  at::globalContext().setAllowTF32CuDNN(false);  // 10 bits would hide what is compared
  const Result fused = train_a_little(setup, kSteps);
  setup.kernels = model::Kernels::kLibTorch;
  setup.graph = false;
  const Result plain = train_a_little(setup, kSteps);
  EXPECT_LT(relative_error(fused.numbers[0], plain.numbers[0]), rounding);
  EXPECT_LT(relative_error(fused.numbers.select(1, 0), plain.numbers.select(1, 0)), 0.04);  // task cost
  EXPECT_LT(relative_error(fused.numbers.select(1, 1), plain.numbers.select(1, 1)), 1e-3);  // regularisation
  EXPECT_LT(relative_error(fused.weights, plain.weights), 0.05);
  EXPECT_LT(relative_error(fused.averages, plain.averages), 0.05);
  EXPECT_GT(relative_error(fused.numbers[kSteps - 1], fused.numbers[0]), 1e-3) << "nothing was learnt";
}

TEST(GpuStep, AgreesWithLibTorchInFloat32) {
  expect_same_training({}, 1e-4);
}

TEST(GpuStep, AgreesWithLibTorchInBfloat16) {
  expect_same_training({.precision = model::Precision::kBfloat16}, 0.03);
}

TEST(GpuStep, AgreesWithIdentityShortcutsAndANeck) {
  expect_same_training({.neck = "fpn8", .all_projections = false}, 1e-4);
}

TEST(GpuStep, AgreesForAPrunedWidth) {
  expect_same_training({.precision = model::Precision::kBfloat16, .width = 0.37f}, 0.03);
}

TEST(GpuStep, AgreesWithTaskAlignedTargetsOfGrowingNumber) {
  expect_same_training({.task_aligned = true}, 1e-4);
}

// Two runs of the same program give the same bits where LibTorch's own kernels do.
TEST(GpuStep, AGraphChangesNoBit) {
  if (tensor::gpu_count() == 0) GTEST_SKIP() << "no GPU that this build can use";
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  const Result graph = train_a_little({.precision = model::Precision::kBfloat16}, 6);
  const Result plain = train_a_little({.precision = model::Precision::kBfloat16, .graph = false}, 6);
  at::globalContext().setDeterministicCuDNN(false);
  at::globalContext().setBenchmarkCuDNN(true);
  EXPECT_TRUE(graph.weights.equal(plain.weights));
  EXPECT_TRUE(graph.numbers.equal(plain.numbers));
}

// Through NCCL, on its stream and inside the graph, in eight buckets or so.
TEST(GpuStep, MeansOverOneRankChangeNothing) {
  if (tensor::gpu_count() == 0) GTEST_SKIP() << "no GPU that this build can use";
  for (const bool task_aligned : {false, true}) {
    for (const auto precision : {model::Precision::kFloat32, model::Precision::kBfloat16}) {
      const Result alone = train_a_little({.precision = precision, .task_aligned = task_aligned}, 7);
      const Result ranks =
          train_a_little({.precision = precision, .task_aligned = task_aligned, .with_ranks = true}, 7);
      EXPECT_LT(relative_error(ranks.numbers[0], alone.numbers[0]), 1e-3);
      EXPECT_LT(relative_error(ranks.numbers.select(1, 0), alone.numbers.select(1, 0)), 0.04);
      EXPECT_LT(relative_error(ranks.weights, alone.weights), 0.05);
    }
  }
}

}  // namespace
}  // namespace maskfit::train
