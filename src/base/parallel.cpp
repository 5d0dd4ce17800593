#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cgroup.h"

namespace maskfit::base {

int usable_cores() {
  static const int cores = [] {
    cpu_set_t set;
    const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0
                            ? CPU_COUNT(&set)
                            : static_cast<int>(std::thread::hardware_concurrency());
    const double quota = read_cgroup_limits().cores.value_or(allowed);
    return std::max(1, std::min(allowed, static_cast<int>(std::ceil(quota))));
  }();
  return cores;
}

void parallel_for(std::int64_t n, const std::function<void(std::int64_t)>& body, int threads) {
  const std::int64_t wanted = threads > 0 ? threads : usable_cores();
  const std::int64_t count = std::min(n, wanted);
  if (count <= 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr first_error;
  std::mutex mutex;
  const auto work = [&] {
    for (std::int64_t i = next++; i < n; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = n;
      }
    }
  };
  std::vector<std::jthread> pool;
  for (std::int64_t t = 1; t < count; ++t) pool.emplace_back(work);
  work();
  pool.clear();
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace maskfit::base
