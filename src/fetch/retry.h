#pragma once

// When to try again.

#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/interrupt.h"

namespace maskfit::fetch {

struct RetryPolicy {
  int tries = 8;                  // in a row that bring nothing new
  double first_wait_seconds = 1;  // doubles from one to the next
  double longest_wait_seconds = 60;
  double longest_retry_after_seconds = 900;  // a server that asks for more is not waited for
};

// Before try number `failures` + 1; between half and all of the doubled wait, so that many clients do not
// come at once. `failures` >= 1.
double wait_seconds(const RetryPolicy& policy, int failures, std::uint64_t seed);

// Seconds from `now` that a Retry-After header asks for: a number, or a date in HTTP's form ("Wed, 21 Oct
// 2015 07:28:00 GMT"). Nothing for other text; never negative.
std::optional<double> parse_retry_after(std::string_view header, std::time_t now);

// Statuses that may be gone at the next try: 408, 425, 429, 500, 502, 503, 504 and what stands between a
// server and its front (520 .. 527).
bool is_passing(long http_status);

// Sleeps, but not through Ctrl-C: throws Error (kInterrupted).
void sleep_or_stop(double seconds, base::StopToken stop);

}  // namespace maskfit::fetch
