#include "train/time_spent.h"

#include <fmt/format.h>

#include <algorithm>

namespace maskfit::train {
namespace {

constexpr double kWorthMentioning = 0.01;  // seconds

}  // namespace

void TimeSpent::begin(const std::string& what) {
  const Clock::time_point now = Clock::now();
  if (!open_.empty()) {
    const auto found =
        std::find_if(spent_.begin(), spent_.end(), [&](const auto& s) { return s.first == open_; });
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (found == spent_.end()) {
      spent_.emplace_back(open_, seconds);
    } else {
      found->second += seconds;
    }
  }
  open_ = what;
  since_ = now;
}

double TimeSpent::seconds(const std::string& what) const {
  for (const auto& [name, seconds] : spent_) {
    if (name == what) return seconds;
  }
  return 0;
}

std::string TimeSpent::sentence() const {
  std::string text;
  for (const auto& [name, seconds] : spent_) {
    if (seconds < kWorthMentioning) continue;
    text += fmt::format("{}{} {:.2f} s", text.empty() ? "" : ", ", name, seconds);
  }
  return text;
}

}  // namespace maskfit::train
