#include "fetch/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "base/text.h"

namespace maskfit::fetch {

double wait_seconds(const RetryPolicy& policy, int failures, std::uint64_t seed) {
  const double doubled = policy.first_wait_seconds * std::pow(2.0, std::min(failures - 1, 30));
  // splitmix64's finaliser: a few well mixed bits, nothing more is needed here.
  std::uint64_t bits = seed + 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(failures);
  bits = (bits ^ (bits >> 30u)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27u)) * 0x94d049bb133111ebull;
  const double share = static_cast<double>((bits ^ (bits >> 31u)) >> 11u) * 0x1p-53;
  return std::min(doubled, policy.longest_wait_seconds) * (0.5 + 0.5 * share);
}

std::optional<double> parse_retry_after(std::string_view header, std::time_t now) {
  const std::string text = base::trim(header);
  long long seconds = 0;
  if (base::parse_int(text, &seconds)) {
    if (seconds < 0) return std::nullopt;
    return static_cast<double>(seconds);
  }
  std::tm date{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::max(0.0, std::difftime(::timegm(&date), now));
}

bool is_passing(long status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504 || (status >= 520 && status <= 527);
}

void sleep_or_stop(double seconds, base::StopToken stop) {
  using Clock = std::chrono::steady_clock;
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    stop.throw_if_requested();
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(50)));
  }
}

}  // namespace maskfit::fetch
