#pragma once

// Turns the numbers of the steps into reports for the observers.

#include <chrono>
#include <cstdint>

#include "train/observer.h"
#include "train/session.h"

namespace maskfit::train {

class StepReports {
 public:
  StepReports(Session& session, Observer& observer);

  // Whether the step that was just taken ends a stretch of the log: scalar_logging_frequency times an epoch.
  bool log_is_due() const;
  // After one step or several, whose numbers are in the monitor: progress, and the log report when it is due.
  void after_steps();
  // At the end of an epoch, before anything else is done: the epoch's report. Time spent until the next step
  // does not count as training time.
  void end_epoch();
  // Training begins again: validation and saving are over.
  void restart_clock();

 private:
  using Clock = std::chrono::steady_clock;

  Costs costs(const StepMeans& means) const;
  StepReport report(const StepMeans& means, double images_per_second) const;
  double seconds_per_step() const;

  Session& s_;
  Observer& observer_;
  std::int64_t log_interval_;  // steps
  Clock::time_point last_report_;
  std::int64_t reported_step_;
  double session_seconds_ = 0, epoch_seconds_ = 0, log_seconds_ = 0;
  std::int64_t session_steps_ = 0, log_steps_ = 0;
};

// Steps between two log reports: 10 reports an epoch by default, fewer when the epoch has fewer steps.
std::int64_t log_interval(std::int64_t steps_per_epoch, std::int64_t reports_per_epoch);

}  // namespace maskfit::train
