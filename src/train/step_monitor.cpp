#include "train/step_monitor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace maskfit::train {
namespace {

constexpr const char* kNorms = "monitor/norms";
constexpr const char* kLog = "monitor/log";      // steps, then the sums
constexpr const char* kEpoch = "monitor/epoch";  // likewise
constexpr const char* kSick = "monitor/sick_in_a_row";

const std::vector<double>& entry(const std::map<std::string, std::vector<double>>& numbers,
                                 const char* name) {
  const auto found = numbers.find(name);
  if (found == numbers.end()) {
    throw base::Error(base::ExitCode::kRefused, fmt::format("the checkpoint has no '{}'", name), "",
                      "it was written by another version; begin a new run");
  }
  return found->second;
}

}  // namespace

double StepMonitor::norm_limit() const {
  if (norms_.size() < kFewest) return std::numeric_limits<double>::infinity();
  std::vector<double> sorted(norms_.begin(), norms_.end());
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  const double median = sorted[sorted.size() / 2];
  // Where nothing has a gradient there is no scale to compare with.
  return median > 0 ? kOutlierFactor * median : std::numeric_limits<double>::infinity();
}

Verdict StepMonitor::judge(const StepNumbers& numbers, double norm_limit) {
  if (!std::isfinite(numbers.total()) || !std::isfinite(numbers.gradient_norm)) return Verdict::kNotFinite;
  return numbers.gradient_norm > norm_limit ? Verdict::kOutlier : Verdict::kSound;
}

void StepMonitor::add(const StepNumbers& numbers, Sums& sums) {
  ++sums.steps;
  sums.values[0] += numbers.task;
  sums.values[1] += numbers.regularization;
  sums.values[2] += numbers.gradient_norm;
  for (std::size_t i = 0; i < numbers.parts.size(); ++i) sums.values[3 + i] += numbers.parts[i];
}

StepMeans StepMonitor::means(const Sums& sums) {
  const double n = static_cast<double>(std::max<std::int64_t>(1, sums.steps));
  StepMeans result{sums.steps, {sums.values[0] / n, sums.values[1] / n, sums.values[2] / n, {}}};
  for (std::size_t i = 3; i < sums.values.size(); ++i) result.mean.parts.push_back(sums.values[i] / n);
  return result;
}

void StepMonitor::note_sound(const StepNumbers& numbers) {
  MASKFIT_CHECK(numbers.parts.size() == parts_, "{} parts, not {}", numbers.parts.size(), parts_);
  norms_.push_back(numbers.gradient_norm);
  if (norms_.size() > kWindow) norms_.pop_front();
  add(numbers, log_);
  add(numbers, epoch_);
  sick_in_a_row_ = 0;
}

StepMeans StepMonitor::take_log_means() {
  const StepMeans result = means(log_);
  log_ = empty();
  return result;
}

StepMeans StepMonitor::epoch_means() const {
  return means(epoch_);
}

void StepMonitor::begin_epoch() {
  epoch_ = empty();
}

std::map<std::string, std::vector<double>> StepMonitor::state() const {
  const auto packed = [](const Sums& sums) {
    std::vector<double> values = {static_cast<double>(sums.steps)};
    values.insert(values.end(), sums.values.begin(), sums.values.end());
    return values;
  };
  return {{kNorms, {norms_.begin(), norms_.end()}},
          {kLog, packed(log_)},
          {kEpoch, packed(epoch_)},
          {kSick, {static_cast<double>(sick_in_a_row_)}}};
}

void StepMonitor::set_state(const std::map<std::string, std::vector<double>>& numbers) {
  const auto unpacked = [&](const char* name) {
    const std::vector<double>& values = entry(numbers, name);
    MASKFIT_CHECK(values.size() == 4 + parts_, "{}: {} values for {} parts", name, values.size(), parts_);
    return Sums{static_cast<std::int64_t>(values[0]), {values.begin() + 1, values.end()}};
  };
  const std::vector<double>& norms = entry(numbers, kNorms);
  norms_.assign(norms.begin(), norms.end());
  log_ = unpacked(kLog);
  epoch_ = unpacked(kEpoch);
  sick_in_a_row_ = static_cast<int>(entry(numbers, kSick).at(0));
}

}  // namespace maskfit::train
