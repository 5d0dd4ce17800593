// Two small trainings against PyTorch in float64 (make_golden.py): outputs, costs, every gradient, and ten
// steps of the optimiser with the weights and moving statistics they leave. Prints how much of each tolerance
// was used.

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "loss/detection_loss.h"
#include "loss/loss_tensors.h"
#include "loss/regulariser.h"
#include "model/detector.h"
#include "model/outputs.h"
#include "network/backbones.h"
#include "tensor/array.h"
#include "tests/support/temp_dir.h"
#include "train/optimizer.h"

namespace maskfit {
namespace {

using nlohmann::json;

constexpr int kHeight = 64, kWidth = 96, kBatch = 2, kClasses = 2, kSteps = 10;

// The script's hash: FNV-1a of the name, SplitMix64 of the index, 24 bits of the result.
class Uniform {
 public:
  explicit Uniform(const std::string& name) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  }

  double next() {
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    return static_cast<double>(x >> 40) / 16777216.0;
  }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ull;
};

std::vector<float> hashed(const std::string& name, std::int64_t count, double low, double high) {
  Uniform uniform(name);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(low + (high - low) * uniform.next());
  return values;
}

// Norm and two random projections.
std::vector<double> summary(const std::string& name, const std::vector<float>& values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  std::vector<double> numbers = {std::sqrt(squares)};
  for (int k = 0; k < 2; ++k) {
    Uniform uniform("projection" + std::to_string(k) + "/" + name);
    double sum = 0;
    for (const float v : values) sum += (2 * uniform.next() - 1) * v;
    numbers.push_back(sum);
  }
  return numbers;
}

using Summaries = std::map<std::string, std::vector<double>>;

struct Priors {
  double scale = 1, box = 0, coverage = 0;
};

void fill_weights(network::Network& network, const Priors& priors) {
  for (auto& [name, array] : network.weights) {
    const bool head = name.starts_with("output_");
    double low = 0, high = 0;
    if (name.ends_with("/kernel")) {
      const auto fans =
          static_cast<double>((array.shape[0] + array.shape[1]) * array.shape[2] * array.shape[3]);
      high = (head ? priors.scale : 1) * std::sqrt(6.0 / fans);
      low = -high;
    } else if (name.ends_with("/bias")) {
      const double prior = !head ? 0 : name.starts_with("output_bbox") ? priors.box : priors.coverage;
      low = prior - 0.1;
      high = prior + 0.1;
    } else if (name.ends_with("/gamma")) {
      low = 0.5;
      high = 1.5;
    } else if (name.ends_with("/beta")) {
      low = -0.2;
      high = 0.2;
    } else {
      low = high = name.ends_with("/moving_variance") ? 1 : 0;
    }
    array.values = hashed(name, array.size(), low, high);
  }
}

spec::CostFunctionConfig two_classes() {
  spec::CostFunctionConfig config;
  for (const bool first : {true, false}) {
    auto* target_class = config.add_target_classes();
    target_class->set_name(first ? "mask" : "no-mask");
    target_class->set_class_weight(first ? 1 : 8);
    target_class->set_coverage_foreground_weight(first ? 0.05f : 0.2f);
    for (const char* name : {"cov", "bbox"}) {
      auto* objective = target_class->add_objectives();
      objective->set_name(name);
      objective->set_initial_weight(std::string(name) == "cov" ? 1.0f : 10.0f);
      objective->set_weight_target(1);
    }
  }
  return config;
}

// One training of the script, set up with the product's parts.
struct Case {
  network::BackboneOptions backbone;
  Priors priors;
  spec::CostFunctionConfig cost = two_classes();
  spec::RegularizerConfig penalty;
  spec::OptimizerConfig optimizer;
  double rate = 0, clip = 0;
  int stride = 16;
};

Case reference_case() {
  Case result;
  result.backbone.backbone = "resnet18";
  result.penalty.set_type(spec::RegularizerConfig::L1);
  result.penalty.set_weight(1e-5f);
  result.optimizer.mutable_adam();
  result.rate = 5e-6;
  return result;
}

Case scratch_case() {
  Case result;
  result.backbone.backbone = "resnet10";
  result.backbone.all_projections = true;
  result.backbone.neck = "fpn8";
  result.stride = 8;
  result.priors = {0.125, 0.5, -2};
  auto* aligned = result.cost.mutable_task_aligned();
  aligned->set_top_k(10);
  aligned->set_coverage_power(1);
  aligned->set_iou_power(6);
  aligned->set_min_radius(1);
  aligned->set_coverage_weight(1);
  aligned->set_ciou_weight(2.5f);
  aligned->set_l1_weight(0.5f);
  result.optimizer.mutable_adamw()->set_weight_decay(0.05f);
  result.rate = 5e-6;
  result.clip = 5;
  return result;
}

std::vector<boxes::Truths> truths() {
  return {{{.box = {10, 8, 42, 46}, .class_index = 0},
           {.box = {30, 20, 62, 60}, .class_index = 1},
           {.box = {70, 30, 76, 37}, .class_index = 0}},
          {{.box = {48, 4, 95, 62}, .class_index = 1}}};
}

// The rasters of the script's reference_targets().
struct Rasters {
  explicit Rasters(std::int64_t cells) {
    const std::int64_t planes = kBatch * kClasses;
    const auto mask = hashed("coverage", planes * cells, 0, 1),
               value = hashed("coverage_value", planes * cells, 0, 1);
    const auto share = hashed("norm", planes * cells, 0, 1);
    box = hashed("box", 4 * planes * cells, 0, 2);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      coverage.push_back(mask[i] > 0.7 ? value[i] : 0.0f);
      norm.push_back(coverage[i] * share[i]);
      const std::size_t plane = i / static_cast<std::size_t>(cells),
                        cell = i % static_cast<std::size_t>(cells);
      for (std::size_t e = 0; e < 4; ++e) {
        if (coverage[i] == 0) box[(plane * 4 + e) * static_cast<std::size_t>(cells) + cell] = 0;
      }
    }
  }

  std::vector<float> coverage, norm, box;
};

struct Trained {
  std::vector<float> bbox, cov_logits, costs;  // of the first step
  double task = 0, penalty = 0;
  Summaries gradients;
  std::vector<double> losses;
  Summaries changes, moving;
};

Trained train(const Case& setup) {
  network::BackboneOptions backbone = setup.backbone;
  backbone.input = {3, kHeight, kWidth};
  backbone.classes = kClasses;
  network::Network network = network::make_detectnet(backbone);
  fill_weights(network, setup.priors);
  model::Detector detector(network, "cpu", model::Precision::kFloat32);
  loss::LossOptions options;
  options.cost = setup.cost;
  options.geometry = {kWidth, kHeight, kWidth / setup.stride, kHeight / setup.stride};
  const loss::DetectionLoss loss(options);
  const loss::Regulariser regulariser(setup.penalty);
  const auto names = detector.parameter_names();
  const auto parameters = detector.parameters();
  train::Optimizer optimizer(setup.optimizer, names, parameters);

  const Rasters rasters(options.geometry.cells());
  const loss::PaddedTruths padded = loss::pad_truths(truths());
  loss::HostTargets host;
  host.count = kBatch;
  host.coverage = rasters.coverage;
  host.coverage_norm = rasters.norm;
  host.box = rasters.box;
  host.truths = &padded;
  const loss::Targets targets = loss.upload(host);
  const at::Tensor images = tensor::from_values(hashed("pictures 34", kBatch * 3 * kHeight * kWidth, 0, 1),
                                                {kBatch, 3, kHeight, kWidth});

  Trained result;
  for (int step = 0; step < kSteps; ++step) {
    const model::Outputs outputs = detector.forward(images, true);
    const loss::Loss cost = loss.compute(outputs.bbox, outputs.cov_logits, outputs.cov, targets);
    const double penalty = tensor::to_number(regulariser.cost(names, parameters));
    const std::vector<at::Tensor> gradients = detector.backward(cost.task);
    result.losses.push_back(tensor::to_number(cost.task) + penalty);
    if (step == 0) {
      result.bbox = tensor::to_values(outputs.bbox);
      result.cov_logits = tensor::to_values(outputs.cov_logits);
      result.costs = tensor::to_values(cost.mean_costs);
      result.task = tensor::to_number(cost.task);
      result.penalty = penalty;
      for (std::size_t i = 0; i < names.size(); ++i) {
        result.gradients[names[i]] = summary(names[i], tensor::to_values(gradients[i]));
      }
    }
    regulariser.add_gradients(names, parameters, gradients);
    train::clip_gradients(gradients, setup.clip);
    optimizer.step(gradients, setup.rate);
  }
  const network::Network after = detector.network();
  for (const network::WeightSlot& slot : network::weight_slots(network)) {
    std::vector<float> values = after.weights.at(slot.name).values;
    if (!slot.trainable) {
      result.moving[slot.name] = summary(slot.name, values);
      continue;
    }
    const std::vector<float>& before = network.weights.at(slot.name).values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= before[i];
    result.changes[slot.name] = summary(slot.name, values);
  }
  return result;
}

class PytorchParityTest : public ::testing::Test {
 protected:
  static json golden(const char* name) {
    const auto path = support::source_dir() / "tests/golden/pytorch/golden.json";
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    return json::parse(file).at("cases").at(name);
  }

  // Prints the margin and fails beyond the tolerance.
  void expect_within(const std::string& what, double error, double tolerance, const std::string& where = "") {
    const json& pytorch = expected_.at("float32_errors");
    std::printf("  %-10s largest error %.1e of %.0e allowed (%.0f %%)%s%s", what.c_str(), error, tolerance,
                100 * error / tolerance, where.empty() ? "" : " in ", where.c_str());
    if (pytorch.contains(what)) std::printf("; PyTorch in float32: %.1e", pytorch.at(what).get<double>());
    std::printf("\n");
    EXPECT_LE(error, tolerance) << what << " " << where;
  }

  void expect_values(const std::string& what, const std::vector<float>& actual, const json& expected,
                     double tolerance) {
    ASSERT_EQ(actual.size(), expected.size());
    double peak = 0, error = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      peak = std::max(peak, std::abs(expected[i].get<double>()));
      error = std::max(error, std::abs(actual[i] - expected[i].get<double>()));
    }
    expect_within(what, error / peak, tolerance);
  }

  // Errors over the array's norm, or over 1e-4 of the largest one for arrays that should be about 0. `skip`:
  // arrays that are looked at elsewhere.
  void expect_summaries(const std::string& what, const Summaries& actual, double tolerance,
                        const std::vector<std::string>& skip = {}) {
    const json& expected = expected_.at(what);
    ASSERT_EQ(actual.size(), expected.size());
    double largest = 0;
    for (const auto& [name, numbers] : expected.items())
      largest = std::max(largest, numbers[0].get<double>());
    double worst = 0;
    std::string where;
    for (const auto& [name, numbers] : expected.items()) {
      if (std::find(skip.begin(), skip.end(), name) != skip.end()) continue;
      ASSERT_TRUE(actual.contains(name)) << name;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double error = std::abs(actual.at(name)[i] - numbers[i].get<double>());
        const double relative = error / (numbers[0].get<double>() + 1e-4 * largest);
        if (relative > worst) {
          worst = relative;
          where = name;
        }
      }
    }
    expect_within(what, worst, tolerance, where);
  }

  void expect_losses(const std::vector<double>& losses, double tolerance) {
    const json& expected = expected_.at("losses");
    ASSERT_EQ(losses.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      worst = std::max(worst, std::abs(losses[i] / expected[i].get<double>() - 1));
    }
    expect_within("losses", worst, tolerance);
  }

  void expect_first_step(const Trained& ours) {
    expect_values("bbox", ours.bbox, expected_.at("bbox"), 3e-5);
    expect_values("cov_logits", ours.cov_logits, expected_.at("cov_logits"), 3e-5);
    expect_values("costs", ours.costs, json(flattened(expected_.at("costs"))), 1e-5);
    EXPECT_NEAR(ours.task, expected_.at("task").get<double>(), 1e-5 * ours.task);
    EXPECT_NEAR(ours.penalty, expected_.at("penalty").get<double>(), 1e-4 * ours.penalty);
  }

  // Names of the arrays whose true gradient is 0: biases under a batch norm.
  std::vector<std::string> without_gradient() const {
    std::vector<std::string> names;
    for (const auto& [name, numbers] : expected_.at("gradients").items()) {
      if (numbers[0].get<double>() < 1e-12) names.push_back(name);
    }
    return names;
  }

  static std::vector<double> flattened(const json& rows) {
    std::vector<double> values;
    for (const json& row : rows) values.insert(values.end(), row.begin(), row.end());
    return values;
  }

  json expected_;
};

TEST_F(PytorchParityTest, ReferenceLossIdentityShortcutsL1AndTensorFlowsAdam) {
  expected_ = golden("reference");
  const Trained ours = train(reference_case());
  expect_first_step(ours);
  expect_summaries("gradients", ours.gradients, 5e-3);
  expect_losses(ours.losses, 1e-3);
  expect_summaries("changes", ours.changes, 0.1);
  expect_summaries("moving", ours.moving, 2e-3);
}

TEST_F(PytorchParityTest, TaskAlignedLossNeckProjectionsClippingAndAdamw) {
  expected_ = golden("scratch");
  const Trained ours = train(scratch_case());
  expect_first_step(ours);
  expect_summaries("gradients", ours.gradients, 5e-3);
  expect_losses(ours.losses, 1e-3);
  expect_summaries("changes", ours.changes, 0.1, without_gradient());
  expect_summaries("moving", ours.moving, 2e-3);
}

TEST_F(PytorchParityTest, BiasUnderABatchNormHasNoGradientAndStaysWhereItIs) {
  expected_ = golden("scratch");
  const std::vector<std::string> names = without_gradient();
  EXPECT_EQ(names.size(), 14u) << "13 convolutions of the backbone and neck_conv";
  const Trained ours = train(scratch_case());
  for (const std::string& name : names) {
    EXPECT_EQ(ours.gradients.at(name)[0], 0) << name;
    EXPECT_EQ(ours.changes.at(name)[0], 0) << name;
  }
}

}  // namespace
}  // namespace maskfit
