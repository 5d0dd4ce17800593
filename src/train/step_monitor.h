#pragma once

// Watches the numbers of every step: refuses the sick ones, averages the others for reports. Plain numbers,
// no tensor.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace maskfit::train {

// What one step said. parts: the mean cost of class 0 coverage, class 0 box, class 1 coverage, ...
struct StepNumbers {
  double task = 0;  // weighted sum of the parts
  double regularization = 0;
  double gradient_norm = 0;  // over all weights, before clipping
  std::vector<double> parts;
  double total() const { return task + regularization; }
};

enum class Verdict {
  kSound,
  kNotFinite,  // loss or gradient norm is infinite or NaN
  kOutlier,    // the gradient norm is over kOutlierFactor times the median of the recent sound steps
};

// Means over the sound steps of a stretch.
struct StepMeans {
  std::int64_t steps = 0;
  StepNumbers mean;  // all zero without steps
};

class StepMonitor {
 public:
  // Outliers are looked for once this many sound steps are known, over the last kWindow of them.
  static constexpr std::size_t kWindow = 200, kFewest = 50;
  static constexpr double kOutlierFactor = 100;
  // This many sick steps in a row mean that the training is lost.
  static constexpr int kSickStepsInARow = 5;

  explicit StepMonitor(std::size_t parts) : parts_(parts) {}

  // The highest gradient norm that is sound now.
  double norm_limit() const;
  // Judges a step without noting it.
  static Verdict judge(const StepNumbers& numbers, double norm_limit);
  Verdict judge(const StepNumbers& numbers) const { return judge(numbers, norm_limit()); }
  void note_sound(const StepNumbers& numbers);
  void note_sick() { ++sick_in_a_row_; }
  bool lost() const { return sick_in_a_row_ >= kSickStepsInARow; }

  // Means since the last call, for the logs; begins a new stretch.
  StepMeans take_log_means();
  // Means of the epoch so far; begin_epoch() begins a new one.
  StepMeans epoch_means() const;
  void begin_epoch();

  // For checkpoints, under "monitor/...".
  std::map<std::string, std::vector<double>> state() const;
  void set_state(const std::map<std::string, std::vector<double>>& numbers);

 private:
  // Sums: task, regularization, gradient norm, then the parts.
  struct Sums {
    std::int64_t steps = 0;
    std::vector<double> values;
  };
  Sums empty() const { return {0, std::vector<double>(3 + parts_, 0.0)}; }
  static void add(const StepNumbers& numbers, Sums& sums);
  static StepMeans means(const Sums& sums);

  std::size_t parts_;
  std::deque<double> norms_;  // of the recent sound steps
  Sums log_ = empty(), epoch_ = empty();
  int sick_in_a_row_ = 0;
};

}  // namespace maskfit::train
