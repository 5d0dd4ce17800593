#pragma once

// The learning rate over a run (spec 4.1, 4.3, 4.4). Steps are global, from 0, and asked before the update.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "spec/experiment.pb.h"

namespace maskfit::train {

// ceil(ceil(samples / batch) / ranks): every rank takes as many steps as the one with most batches.
std::int64_t steps_per_epoch(std::int64_t samples, std::int64_t batch_per_rank, std::int64_t ranks);

// exp(ln min + t (ln max - ln min)), the curve of the reference's schedules. REQUIRES min, max > 0.
double exponential_between(double min, double max, double t);

// With p = progress: t = p / soft_start before soft_start, (1 - p) / (1 - annealing) after annealing, 1
// between; soft_start 0: no rise, annealing 1: no fall. REQUIRES 0 <= progress <= 1.
double soft_start_annealing_rate(const spec::SoftStartAnnealingSchedule& schedule, double progress);

// max (step + 1) / warmup during the warm-up, then half a cosine from max to min at the last step.
double warmup_cosine_rate(const spec::WarmupCosineSchedule& schedule, std::int64_t step,
                          std::int64_t warmup_steps, std::int64_t total_steps);

// The phases of the early-stopping schedule: plateau, annealing, stop.
struct EarlyStoppingState {
  bool annealing = false;
  bool stop = false;
  std::int64_t phase_start = 0;  // global step
  double best_cost = std::numeric_limits<double>::infinity();
  std::int64_t best_epoch = 0;  // 1-based; 0: no validation yet
};

// t = min(k / soft_start_steps, 1) before annealing, max(0, 1 - k / annealing_steps) in it, k = steps in the
// phase.
double early_stopping_rate(const spec::EarlyStoppingAnnealingSchedule& schedule,
                           const EarlyStoppingState& state, std::int64_t step, std::int64_t steps_per_epoch);

// After the validation of `epoch` (1-based), with `step` finished steps. No better cost for patience epochs
// begins the annealing; once that has run its length, it ends the run.
void observe_validation(const spec::EarlyStoppingAnnealingSchedule& schedule, std::int64_t epoch, double cost,
                        std::int64_t step, std::int64_t steps_per_epoch, EarlyStoppingState* state);

// The schedule that a spec chose.
class LearningRate {
 public:
  // REQUIRES a checked spec. Throws base::Error (kRefused) for a spec without a schedule.
  LearningRate(const spec::LearningRateConfig& config, std::int64_t steps_per_epoch, std::int64_t epochs);

  // REQUIRES 0 <= step; a step past the end has the rate of the last one.
  double at(std::int64_t step) const;

  // Only the early-stopping schedule listens; the others never stop before the last epoch.
  bool listens_to_validation() const { return config_.has_early_stopping_annealing_schedule(); }
  void observe(std::int64_t epoch, double cost, std::int64_t step);
  bool stop() const { return state_.stop; }

  // For checkpoints: annealing, stop, phase start, best cost, best epoch.
  static constexpr std::size_t kStateSize = 5;
  std::vector<double> state() const;
  void set_state(const std::vector<double>& state);

 private:
  spec::LearningRateConfig config_;
  std::int64_t steps_per_epoch_, total_steps_;
  EarlyStoppingState state_;
};

}  // namespace maskfit::train
