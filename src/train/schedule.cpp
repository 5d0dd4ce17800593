#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace maskfit::train {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Whole steps of a number of epochs that may be a fraction; the reference truncates.
std::int64_t steps_of(double epochs, std::int64_t per_epoch) {
  return static_cast<std::int64_t>(epochs * static_cast<double>(per_epoch));
}

}  // namespace

std::int64_t steps_per_epoch(std::int64_t samples, std::int64_t batch_per_rank, std::int64_t ranks) {
  MASKFIT_CHECK(samples > 0 && batch_per_rank > 0 && ranks > 0, "samples={} batch={} ranks={}", samples,
                batch_per_rank, ranks);
  return ceil_divide(ceil_divide(samples, batch_per_rank), ranks);
}

double exponential_between(double min, double max, double t) {
  return std::exp(std::log(min) + t * (std::log(max) - std::log(min)));
}

double soft_start_annealing_rate(const spec::SoftStartAnnealingSchedule& schedule, double progress) {
  MASKFIT_CHECK(progress >= 0 && progress <= 1, "progress={}", progress);
  double t = 1;
  if (schedule.soft_start() > 0 && progress < schedule.soft_start()) {
    t = progress / schedule.soft_start();
  } else if (schedule.annealing() < 1 && progress > schedule.annealing()) {
    t = (1 - progress) / (1 - schedule.annealing());
  }
  return exponential_between(schedule.min_learning_rate(), schedule.max_learning_rate(), t);
}

double warmup_cosine_rate(const spec::WarmupCosineSchedule& schedule, std::int64_t step,
                          std::int64_t warmup_steps, std::int64_t total_steps) {
  const double max = schedule.max_learning_rate(), min = schedule.min_learning_rate();
  if (step < warmup_steps) return max * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const auto length = static_cast<double>(std::max<std::int64_t>(1, total_steps - 1 - warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) / length);
  return min + (max - min) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

double early_stopping_rate(const spec::EarlyStoppingAnnealingSchedule& schedule,
                           const EarlyStoppingState& state, std::int64_t step, std::int64_t steps_per_epoch) {
  const std::int64_t length =
      steps_of(state.annealing ? schedule.annealing_epochs() : schedule.soft_start_epochs(), steps_per_epoch);
  double t = 1;  // a phase of no length has the maximum, the annealing as well
  if (length > 0) {
    const double done =
        std::min(1.0, static_cast<double>(step - state.phase_start) / static_cast<double>(length));
    t = state.annealing ? 1 - done : done;
  }
  return exponential_between(schedule.min_learning_rate(), schedule.max_learning_rate(), t);
}

void observe_validation(const spec::EarlyStoppingAnnealingSchedule& schedule, std::int64_t epoch, double cost,
                        std::int64_t step, std::int64_t steps_per_epoch, EarlyStoppingState* state) {
  if (state->best_epoch == 0 || cost < state->best_cost) {
    state->best_cost = cost;
    state->best_epoch = epoch;
    return;
  }
  if (epoch - state->best_epoch < static_cast<std::int64_t>(schedule.patience_steps())) return;
  if (!state->annealing) {
    *state = {.annealing = true, .phase_start = step, .best_cost = cost, .best_epoch = epoch};
  } else if (step - state->phase_start > steps_of(schedule.annealing_epochs(), steps_per_epoch)) {
    state->stop = true;
  }
}

LearningRate::LearningRate(const spec::LearningRateConfig& config, std::int64_t steps_per_epoch,
                           std::int64_t epochs)
    : config_(config), steps_per_epoch_(steps_per_epoch), total_steps_(steps_per_epoch * epochs) {
  MASKFIT_CHECK(steps_per_epoch > 0 && epochs > 0, "steps_per_epoch={} epochs={}", steps_per_epoch, epochs);
  if (config.learning_rate_case() == spec::LearningRateConfig::LEARNING_RATE_NOT_SET) {
    throw base::Error(
        base::ExitCode::kRefused, "the spec names no learning-rate schedule", "training_config.learning_rate",
        "give soft_start_annealing_schedule, early_stopping_annealing_schedule or warmup_cosine_schedule");
  }
}

double LearningRate::at(std::int64_t step) const {
  MASKFIT_CHECK(step >= 0, "step={}", step);
  if (config_.has_soft_start_annealing_schedule()) {
    const double progress = std::min(1.0, static_cast<double>(step) / static_cast<double>(total_steps_));
    return soft_start_annealing_rate(config_.soft_start_annealing_schedule(), progress);
  }
  if (config_.has_warmup_cosine_schedule()) {
    const spec::WarmupCosineSchedule& schedule = config_.warmup_cosine_schedule();
    return warmup_cosine_rate(schedule, step, steps_of(schedule.warmup_epochs(), steps_per_epoch_),
                              total_steps_);
  }
  return early_stopping_rate(config_.early_stopping_annealing_schedule(), state_, step, steps_per_epoch_);
}

void LearningRate::observe(std::int64_t epoch, double cost, std::int64_t step) {
  if (!listens_to_validation()) return;
  observe_validation(config_.early_stopping_annealing_schedule(), epoch, cost, step, steps_per_epoch_,
                     &state_);
}

std::vector<double> LearningRate::state() const {
  return {state_.annealing ? 1.0 : 0.0, state_.stop ? 1.0 : 0.0, static_cast<double>(state_.phase_start),
          state_.best_cost, static_cast<double>(state_.best_epoch)};
}

void LearningRate::set_state(const std::vector<double>& state) {
  MASKFIT_CHECK(state.size() == kStateSize, "{} numbers", state.size());
  state_ = {.annealing = state[0] != 0,
            .stop = state[1] != 0,
            .phase_start = static_cast<std::int64_t>(state[2]),
            .best_cost = state[3],
            .best_epoch = static_cast<std::int64_t>(state[4])};
}

}  // namespace maskfit::train
