#pragma once

// How much each head counts in the loss of its class, re-balanced after every epoch (spec 3.3, 3.4). Plain
// numbers.

#include <array>
#include <vector>

#include "spec/experiment.pb.h"

namespace maskfit::loss {

// The two heads in the order of all arrays here.
enum Objective { kCoverage = 0, kBox = 1 };
constexpr int kObjectives = 2;
using PerObjective = std::array<double, kObjectives>;

// One class's entry of CostFunctionConfig.
struct ClassWeights {
  double class_weight = 1;
  PerObjective objective = {1, 1};  // lambda, changed by update()
  PerObjective target = {1, 1};     // share of the cost that update() steers to
};

class AutoWeighting {
 public:
  // Class weights are divided by their sum, and so are the initial weights of a class's objectives. Throws
  // base::Error (kRefused) naming the class whose objectives are not exactly cov and bbox.
  explicit AutoWeighting(const spec::CostFunctionConfig& config);

  const std::vector<ClassWeights>& classes() const { return classes_; }
  // class_weight * lambda.
  double factor(std::size_t class_index, Objective objective) const;

  // cost_sums: one entry a class, summed over the steps of the epoch and averaged over the ranks. When
  // enabled, with r_o = target_o / sum_o (0 where sum_o = 0) and R = sum of r over the objectives:
  //   lambda_o = min(max(r_o / R, min_objective_weight), max_objective_weight), not normalised again;
  //   unchanged if R = 0.
  void update(const std::vector<PerObjective>& cost_sums);

  // For checkpoints: the lambdas, 2 a class.
  std::vector<double> state() const;
  void set_state(const std::vector<double>& lambdas);

 private:
  std::vector<ClassWeights> classes_;
  bool enabled_ = false;
  double min_ = 0, max_ = 0;
};

}  // namespace maskfit::loss
