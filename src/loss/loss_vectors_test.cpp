// Costs and auto-weighting of the reference.

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "loss/auto_weighting.h"
#include "loss/box_loss.h"
#include "loss/coverage_loss.h"
#include "loss/detection_loss.h"
#include "loss/loss_tensors.h"
#include "tensor/array.h"
#include "tests/support/vectors.h"

namespace maskfit::loss {
namespace {

using nlohmann::json;
using support::vector_group;

// Nested lists of numbers as a tensor.
void flatten(const json& nested, std::vector<std::int64_t>* shape, std::vector<float>* values,
             std::size_t depth = 0) {
  if (!nested.is_array()) {
    values->push_back(nested.get<float>());
    return;
  }
  if (shape->size() == depth) shape->push_back(static_cast<std::int64_t>(nested.size()));
  for (const json& item : nested) flatten(item, shape, values, depth + 1);
}

at::Tensor tensor_of(const json& nested) {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  flatten(nested, &shape, &values);
  return tensor::from_values(values, shape);
}

void expect_values(const at::Tensor& actual, const json& expected, double tolerance) {
  const std::vector<float> a = tensor::to_values(actual), e = tensor::to_values(tensor_of(expected));
  ASSERT_EQ(a.size(), e.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], e[i], tolerance * std::max(1.0f, std::abs(e[i]))) << i;
}

TEST(LossVectorsTest, Costs) {
  MASKFIT_REQUIRE_VECTORS();
  int handled = 0;
  for (const auto& vector : vector_group("cost")) {
    const auto id = vector.at("id").get<std::string>();
    SCOPED_TRACE(id);
    const auto& input = vector.at("input");
    const auto& expected = vector.at("expected");
    const auto tolerance = vector.at("tolerance").get<double>();
    const at::Tensor prediction = tensor_of(input.at("pred")), target = tensor_of(input.at("target"));
    at::Tensor cost;
    if (input.contains("foreground_weight")) {
      const std::vector<float> weight = {input.at("foreground_weight").get<float>()};
      cost = weighted_cross_entropy(prediction, target, tensor::from_values(weight, {}));
      if (input.contains("source_weight_per_image")) {
        cost = cost.mul(tensor_of(input.at("source_weight_per_image")).view({-1, 1, 1, 1}));
      }
      if (expected.contains("cost")) expect_values(cost, expected.at("cost"), tolerance);
    } else {
      const auto boxes = [](const at::Tensor& t) { return t.unsqueeze(1); };
      cost = box_l1(boxes(prediction), boxes(target)).mul(tensor_of(input.at("weight")));
      expect_values(cost.squeeze(1), json(tensor::to_values(tensor_of(expected.at("cost")).mean(1))),
                    tolerance);
    }
    if (expected.contains("mean")) {
      EXPECT_NEAR(tensor::to_number(cost.mean()), expected.at("mean").get<double>(), tolerance);
    }
    ++handled;
  }
  EXPECT_GE(handled, 3);
}

void set_objective(spec::CostFunctionConfig::TargetClass* target_class, const std::string& name,
                   float initial, float target) {
  auto* objective = target_class->add_objectives();
  objective->set_name(name);
  objective->set_initial_weight(initial);
  objective->set_weight_target(target);
}

spec::CostFunctionConfig config_of(const json& input, const std::vector<std::string>& names) {
  spec::CostFunctionConfig config;
  config.set_enable_autoweighting(true);
  config.set_min_objective_weight(input.at("min_objective_weight").get<float>());
  config.set_max_objective_weight(input.at("max_objective_weight").get<float>());
  for (const std::string& name : names) {
    const json& entry = input.at("classes").at(name);
    auto* target_class = config.add_target_classes();
    target_class->set_name(name);
    target_class->set_class_weight(entry.at("class_weight").get<float>());
    target_class->set_coverage_foreground_weight(entry.at("coverage_foreground_weight").get<float>());
    for (const auto& [objective, weights] : entry.at("objectives").items()) {
      set_objective(target_class, objective, weights.at("initial_weight").get<float>(),
                    weights.at("weight_target").get<float>());
    }
  }
  return config;
}

// The reference's unit test: two classes on a 4 x 4 grid, five epochs of two batches.
class AutoWeightUnit {
 public:
  explicit AutoWeightUnit(const json& vector) : vector_(vector), names_({"cat", "dog"}) {
    options_.cost = config_of(vector.at("input"), names_);
    options_.geometry = {64, 64, 4, 4};
  }

  void run() {
    DetectionLoss loss(options_);
    expect_lambdas(loss, vector_.at("expected").at("initial_objective_weights"));
    for (const json& epoch : vector_.at("expected").at("epochs")) {
      for (const json& batch : epoch.at("batches")) step(loss, batch);
      loss.update_weights(loss.take_cost_sums());
      expect_lambdas(loss, epoch.at("updated_objective_weights"));
    }
  }

 private:
  // A value on the four inner cells, 0 elsewhere.
  static at::Tensor inner(std::int64_t channels, double value) {
    at::Tensor grid = at::zeros({1, channels, 4, 4});
    grid.narrow(2, 1, 2).narrow(3, 1, 2).fill_(value);
    return grid;
  }

  void step(DetectionLoss& loss, const json& batch) const {
    const auto v = batch.at("v").get<double>();
    Targets targets;
    targets.coverage = targets.box_weight = inner(2, 1);
    targets.box = inner(8, 1).view({1, 2, 4, 4, 4});
    const Loss result = loss.compute(inner(8, 11 - 10 * v), at::zeros({1, 2, 4, 4}), inner(2, v), targets);
    loss.add_costs(result);
    EXPECT_NEAR(tensor::to_number(result.task), batch.at("total_cost").get<double>(), 3e-6) << "v=" << v;
    const std::vector<float> means = tensor::to_values(result.mean_costs);
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const json& costs = batch.at("component_costs").at(names_[c]);
      EXPECT_NEAR(means[2 * c], costs.at("cov").get<double>(), 3e-6);
      EXPECT_NEAR(means[2 * c + 1], costs.at("bbox").get<double>(), 3e-6);
    }
  }

  void expect_lambdas(const DetectionLoss& loss, const json& expected) const {
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const ClassWeights& weights = loss.weighting().classes()[c];
      EXPECT_NEAR(weights.objective[kCoverage], expected.at(names_[c]).at("cov").get<double>(), 3e-6);
      EXPECT_NEAR(weights.objective[kBox], expected.at(names_[c]).at("bbox").get<double>(), 3e-6);
    }
  }

  const json& vector_;
  const std::vector<std::string> names_;
  LossOptions options_;
};

// One class with given lambdas and targets.
AutoWeighting single(const json& input, const json& one_case) {
  spec::CostFunctionConfig config;
  config.set_enable_autoweighting(true);
  config.set_min_objective_weight(input.at("min_objective_weight").get<float>());
  config.set_max_objective_weight(input.at("max_objective_weight").get<float>());
  auto* target_class = config.add_target_classes();
  target_class->set_class_weight(1);
  for (const char* name : {"cov", "bbox"}) {
    set_objective(target_class, name, 1, one_case.at("weight_target").at(name).get<float>());
  }
  AutoWeighting weighting(config);
  weighting.set_state(
      {one_case.at("old").at("cov").get<double>(), one_case.at("old").at("bbox").get<double>()});
  return weighting;
}

TEST(LossVectorsTest, AutoWeighting) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : vector_group("autoweight")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const auto& input = vector.at("input");
    if (input.contains("classes")) {
      AutoWeightUnit(vector).run();
      continue;
    }
    for (std::size_t i = 0; i < input.at("cases").size(); ++i) {
      const json& one_case = input.at("cases")[i];
      AutoWeighting weighting = single(input, one_case);
      const json& sums = one_case.at("cost_sums");
      weighting.update({{sums.at("cov").get<double>(), sums.at("bbox").get<double>()}});
      const json& expected = vector.at("expected").at("new")[i];
      // The limits are float32 in the spec.
      EXPECT_NEAR(weighting.classes()[0].objective[kCoverage], expected.at("cov").get<double>(), 1e-7) << i;
      EXPECT_NEAR(weighting.classes()[0].objective[kBox], expected.at("bbox").get<double>(), 1e-7) << i;
    }
  }
}

}  // namespace
}  // namespace maskfit::loss
