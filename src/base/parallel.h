#pragma once

// Data parallelism on the CPU without a library's global pool.

#include <cstdint>
#include <functional>

namespace maskfit::base {

// Cores that this process may use, at least 1: its CPU affinity, cut to its control group's quota (rounded
// up). Asked once; a later change of either is not noticed.
int usable_cores();

// Calls body(i) for every i in [0, n), on up to `threads` threads (0: usable_cores()). Items are handed out
// one by one, so uneven items balance. The first exception is rethrown here once all threads have stopped;
// items not begun by then are left out. body must be safe to call from several threads.
void parallel_for(std::int64_t n, const std::function<void(std::int64_t)>& body, int threads = 0);

}  // namespace maskfit::base
