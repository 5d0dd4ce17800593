#include "cli/prune_request.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::cli {
namespace {

[[noreturn]] void refuse(const std::string& what, const char* option, const std::string& hint) {
  throw base::Error(base::ExitCode::kUsage, what, option, hint);
}

double number_of(const std::string& words, const char* option, const std::string& hint) {
  float value = 0;
  if (!base::parse_float(base::trim(words), &value) || !std::isfinite(value)) {
    refuse(fmt::format("'{}' is no number", words), option, hint);
  }
  return value;
}

double share_of(const std::string& words, const char* option) {
  const std::string hint = "a share of the unpruned network: 12% or 0.12";
  const bool percent = words.ends_with('%');
  const double value =
      number_of(percent ? words.substr(0, words.size() - 1) : words, option, hint) / (percent ? 100 : 1);
  if (value <= 0 || value > 1) refuse(fmt::format("'{}' is no share that can stay", words), option, hint);
  return value;
}

double speed_of(const std::string& words) {
  const char* option = "--latency";
  const std::string hint = "the time for a picture or the speed to reach: 8ms or 120img/s";
  for (const auto& [unit, is_time] : {std::pair{"ms", true}, std::pair{"img/s", false}}) {
    if (!words.ends_with(unit)) continue;
    const double value = number_of(words.substr(0, words.size() - std::string(unit).size()), option, hint);
    if (value <= 0) refuse(fmt::format("'{}' cannot be reached", words), option, hint);
    return is_time ? 1000 / value : value;
  }
  refuse(fmt::format("'{}' has no unit", words), option, hint);
}

}  // namespace

PruneGoal prune_goal(const std::string& threshold, const std::string& parameters, const std::string& macs,
                     const std::string& latency) {
  const int given = !threshold.empty() + !parameters.empty() + !macs.empty() + !latency.empty();
  if (given != 1) {
    refuse(given == 0 ? "how small is the network to become?" : "only one goal can be searched for",
           "--keep-params, --keep-macs, --latency, --threshold", "give one of them, e.g. --keep-params 12%");
  }
  PruneGoal goal;
  if (!threshold.empty()) {
    goal.threshold =
        number_of(threshold, "--threshold", "e.g. 0.5, with the norms of a layer's filters in 0..1");
    if (*goal.threshold < 0) {
      refuse(fmt::format("{} is below every norm", threshold), "--threshold", "use 0 or more");
    }
  }
  if (!parameters.empty()) goal.parameters = share_of(parameters, "--keep-params");
  if (!macs.empty()) goal.macs = share_of(macs, "--keep-macs");
  if (!latency.empty()) goal.pictures_per_second = speed_of(latency);
  return goal;
}

}  // namespace maskfit::cli
