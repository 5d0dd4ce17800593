#pragma once

// status.json, in the reference's form (detectnet_v2 4.6, its tools' page 10): one JSON object a line, with
// "date" "M/D/YYYY" and "time" "H:M:S" that are not zero-padded. kpi, categorical and graphical are sticky:
// once set, every later line repeats them.

#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace maskfit::runs {

enum class Status { kStarted, kRunning, kSuccess, kFailure, kSkipped };
enum class Verbosity { kDebug, kInfo, kWarning, kError, kCritical };

// What the line at the end of an epoch says.
struct EpochStatus {
  int epoch = 0;  // 1-based
  int max_epoch = 0;
  double seconds_per_epoch = 0;
  double eta_seconds = 0;
  double loss = 0;  // NaN becomes null
  double learning_rate = 0;
};

class StatusLog {
 public:
  // `clock` gives the local time of a line; tests give their own.
  explicit StatusLog(std::filesystem::path path, std::function<std::tm()> clock = local_time);

  void write(Status status, const std::string& message, Verbosity verbosity = Verbosity::kInfo);
  void write_epoch(const EpochStatus& epoch);
  // kpi {"validation cost": 8 decimals, "mean average precision": 100 * mAP, 4 decimals} and
  // categorical {"average_precision": {class: 100 * AP, 4 decimals}}; message "Evaluation metrics
  // generated.".
  void write_evaluation(double validation_cost, double map, const std::map<std::string, double>& ap_by_class);

  static std::tm local_time();

 private:
  void append(const std::string& status, const std::string& message, Verbosity verbosity,
              const std::string& extra);

  std::filesystem::path path_;
  std::function<std::tm()> clock_;
  std::string kpi_, categorical_, graphical_;  // JSON text; "" until set
};

}  // namespace maskfit::runs
