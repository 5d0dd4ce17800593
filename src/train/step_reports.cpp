#include "train/step_reports.h"

#include <algorithm>

namespace maskfit::train {

std::int64_t log_interval(std::int64_t steps_per_epoch, std::int64_t reports_per_epoch) {
  const std::int64_t wanted = reports_per_epoch > 0 ? reports_per_epoch : 10;
  return std::max<std::int64_t>(1, steps_per_epoch / std::min(wanted, steps_per_epoch));
}

StepReports::StepReports(Session& session, Observer& observer)
    : s_(session),
      observer_(observer),
      log_interval_(
          log_interval(session.steps_per_epoch(),
                       session.run.experiment.training_config().visualizer().scalar_logging_frequency())),
      last_report_(Clock::now()),
      reported_step_(session.step) {}

double StepReports::seconds_per_step() const {
  return session_steps_ > 0 ? session_seconds_ / static_cast<double>(session_steps_) : 0;
}

Costs StepReports::costs(const StepMeans& means) const {
  Costs costs{means.mean.total(), means.mean.task, means.mean.regularization, {}};
  for (std::size_t c = 0; c < s_.class_names.size(); ++c) {
    for (const loss::Objective o : {loss::kCoverage, loss::kBox}) {
      CostPart part{s_.class_names[c], o == loss::kCoverage ? "cov" : "bbox", means.mean.parts[2 * c + o], 1,
                    1};
      if (!s_.loss->task_aligned()) {  // whose costs enter the loss as they are
        part.class_weight = s_.loss->weighting().classes()[c].class_weight;
        part.objective_weight = s_.loss->weighting().classes()[c].objective[o];
      }
      costs.parts.push_back(std::move(part));
    }
  }
  return costs;
}

StepReport StepReports::report(const StepMeans& means, double images_per_second) const {
  StepReport report;
  report.at = s_.position(s_.step);
  report.costs = costs(means);
  report.learning_rate = s_.learning_rate->at(s_.step - 1);
  report.gradient_norm = means.mean.gradient_norm;
  report.images_per_second = images_per_second;
  report.eta_seconds = seconds_per_step() * static_cast<double>(s_.total_steps() - s_.step);
  return report;
}

bool StepReports::log_is_due() const {
  const std::int64_t in_epoch = s_.position(s_.step).step_in_epoch;
  return in_epoch % log_interval_ == 0 || in_epoch == s_.steps_per_epoch();
}

void StepReports::after_steps() {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_report_).count();
  last_report_ = now;
  for (double* sum : {&session_seconds_, &epoch_seconds_, &log_seconds_}) *sum += seconds;
  for (std::int64_t* sum : {&session_steps_, &log_steps_}) *sum += s_.step - reported_step_;
  reported_step_ = s_.step;
  const double images = static_cast<double>(s_.planner->global_batch());
  observer_.on_progress(report(s_.monitor.epoch_means(), images / std::max(1e-9, seconds_per_step())));
  if (!log_is_due()) return;
  const double rate = images * static_cast<double>(log_steps_) / std::max(1e-9, log_seconds_);
  observer_.on_step(report(s_.monitor.take_log_means(), rate));
  log_seconds_ = 0;
  log_steps_ = 0;
}

void StepReports::end_epoch() {
  const std::int64_t left = s_.total_steps() - s_.step;
  observer_.on_epoch({.at = s_.position(s_.step),
                      .mean_loss = s_.monitor.epoch_means().mean.total(),
                      .learning_rate = s_.learning_rate->at(s_.step - 1),
                      .seconds = epoch_seconds_,
                      .eta_seconds = seconds_per_step() * static_cast<double>(left)});
  epoch_seconds_ = 0;
}

void StepReports::restart_clock() {
  last_report_ = Clock::now();
}

}  // namespace maskfit::train
