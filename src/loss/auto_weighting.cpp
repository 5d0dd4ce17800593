#include "loss/auto_weighting.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace maskfit::loss {
namespace {

ClassWeights weights_of(const spec::CostFunctionConfig::TargetClass& target_class) {
  const auto refuse = [&](const std::string& what) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("class '{}': {}", target_class.name(), what),
                      "cost_function_config.target_classes",
                      "give each class one objective cov and one objective bbox");
  };
  ClassWeights weights;
  weights.class_weight = target_class.class_weight();
  std::set<std::string> seen;
  for (const auto& objective : target_class.objectives()) {
    if (objective.name() != "cov" && objective.name() != "bbox")
      refuse("unknown objective '" + objective.name() + "'");
    if (!seen.insert(objective.name()).second) refuse("two objectives '" + objective.name() + "'");
    const Objective place = objective.name() == "cov" ? kCoverage : kBox;
    weights.objective[place] = objective.initial_weight();
    weights.target[place] = objective.weight_target();
  }
  if (seen.size() != kObjectives) refuse(fmt::format("{} objectives", seen.size()));
  return weights;
}

}  // namespace

AutoWeighting::AutoWeighting(const spec::CostFunctionConfig& config)
    : enabled_(config.enable_autoweighting()),
      min_(config.min_objective_weight()),
      max_(config.max_objective_weight()) {
  double class_sum = 0;
  for (const auto& target_class : config.target_classes()) {
    classes_.push_back(weights_of(target_class));
    class_sum += classes_.back().class_weight;
  }
  for (ClassWeights& weights : classes_) {
    weights.class_weight /= class_sum;
    const double objective_sum = weights.objective[kCoverage] + weights.objective[kBox];
    for (double& lambda : weights.objective) lambda /= objective_sum;
  }
}

double AutoWeighting::factor(std::size_t class_index, Objective objective) const {
  const ClassWeights& weights = classes_.at(class_index);
  return weights.class_weight * weights.objective[objective];
}

void AutoWeighting::update(const std::vector<PerObjective>& cost_sums) {
  MASKFIT_CHECK(cost_sums.size() == classes_.size(), "{} sums for {} classes", cost_sums.size(),
                classes_.size());
  if (!enabled_) return;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    PerObjective ratio = {0, 0};
    for (int o = 0; o < kObjectives; ++o) {
      if (cost_sums[c][o] != 0) ratio[o] = classes_[c].target[o] / cost_sums[c][o];
    }
    const double sum = ratio[kCoverage] + ratio[kBox];
    if (sum == 0) continue;
    for (int o = 0; o < kObjectives; ++o) {
      classes_[c].objective[o] = std::min(std::max(ratio[o] / sum, min_), max_);
    }
  }
}

std::vector<double> AutoWeighting::state() const {
  std::vector<double> lambdas;
  for (const ClassWeights& weights : classes_) {
    lambdas.insert(lambdas.end(), weights.objective.begin(), weights.objective.end());
  }
  return lambdas;
}

void AutoWeighting::set_state(const std::vector<double>& lambdas) {
  MASKFIT_CHECK(lambdas.size() == kObjectives * classes_.size(), "{} numbers for {} classes", lambdas.size(),
                classes_.size());
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (std::size_t o = 0; o < kObjectives; ++o) classes_[c].objective[o] = lambdas[kObjectives * c + o];
  }
}

}  // namespace maskfit::loss
