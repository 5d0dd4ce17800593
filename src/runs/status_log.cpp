#include "runs/status_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace maskfit::runs {
namespace {
using Json = nlohmann::ordered_json;

const char* name_of(Status status) {
  switch (status) {
    case Status::kStarted:
      return "STARTED";
    case Status::kRunning:
      return "RUNNING";
    case Status::kSuccess:
      return "SUCCESS";
    case Status::kFailure:
      return "FAILURE";
    case Status::kSkipped:
      return "SKIPPED";
  }
  MASKFIT_CHECK(false, "status={}", static_cast<int>(status));
  return "";
}

const char* name_of(Verbosity verbosity) {
  switch (verbosity) {
    case Verbosity::kDebug:
      return "DEBUG";
    case Verbosity::kInfo:
      return "INFO";
    case Verbosity::kWarning:
      return "WARNING";
    case Verbosity::kError:
      return "ERROR";
    case Verbosity::kCritical:
      return "CRITICAL";
  }
  MASKFIT_CHECK(false, "verbosity={}", static_cast<int>(verbosity));
  return "";
}

Json rounded(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  const double factor = std::pow(10.0, decimals);
  return std::round(value * factor) / factor;
}

// Python's str(timedelta) of whole seconds: "0:03:07", "1 day, 2:03:04".
std::string timedelta(double seconds) {
  const long long total = std::isfinite(seconds) && seconds > 0 ? std::llround(seconds) : 0;
  const long long days = total / 86400;
  const std::string clock =
      fmt::format("{}:{:02}:{:02}", total % 86400 / 3600, total % 3600 / 60, total % 60);
  return days == 0 ? clock : fmt::format("{} day{}, {}", days, days == 1 ? "" : "s", clock);
}

}  // namespace

StatusLog::StatusLog(std::filesystem::path path, std::function<std::tm()> clock)
    : path_(std::move(path)), clock_(std::move(clock)) {}

std::tm StatusLog::local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

void StatusLog::append(const std::string& status, const std::string& message, Verbosity verbosity,
                       const std::string& extra) {
  const std::tm now = clock_();
  Json line = {{"date", fmt::format("{}/{}/{}", now.tm_mon + 1, now.tm_mday, now.tm_year + 1900)},
               {"time", fmt::format("{}:{}:{}", now.tm_hour, now.tm_min, now.tm_sec)},
               {"status", status},
               {"verbosity", name_of(verbosity)}};
  if (!message.empty()) line["message"] = message;
  if (!categorical_.empty()) line["categorical"] = Json::parse(categorical_);
  if (!graphical_.empty()) line["graphical"] = Json::parse(graphical_);
  if (!kpi_.empty()) line["kpi"] = Json::parse(kpi_);
  if (!extra.empty()) line.update(Json::parse(extra));
  // A message may carry a file name, and file names need not be UTF-8.
  base::append_line(path_, line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void StatusLog::write(Status status, const std::string& message, Verbosity verbosity) {
  append(name_of(status), message, verbosity, "");
}

void StatusLog::write_epoch(const EpochStatus& epoch) {
  Json graphical;
  graphical["loss"] = std::isfinite(epoch.loss) ? Json(epoch.loss) : Json(nullptr);
  graphical["learning_rate"] = fmt::format("{}", epoch.learning_rate);  // the reference writes it as a string
  graphical_ = graphical.dump();
  const Json extra = {{"epoch", epoch.epoch},
                      {"max_epoch", epoch.max_epoch},
                      {"time_per_epoch", timedelta(epoch.seconds_per_epoch)},
                      {"eta", timedelta(epoch.eta_seconds)}};
  append(name_of(Status::kRunning), "", Verbosity::kInfo, extra.dump());
}

void StatusLog::write_evaluation(double validation_cost, double map,
                                 const std::map<std::string, double>& ap_by_class) {
  kpi_ = Json{{"validation cost", rounded(validation_cost, 8)},
              {"mean average precision", rounded(100 * map, 4)}}
             .dump();
  Json per_class = Json::object();
  for (const auto& [name, ap] : ap_by_class) per_class[name] = rounded(100 * ap, 4);
  categorical_ = Json{{"average_precision", per_class}}.dump();
  append(name_of(Status::kRunning), "Evaluation metrics generated.", Verbosity::kInfo, "");
}

}  // namespace maskfit::runs
