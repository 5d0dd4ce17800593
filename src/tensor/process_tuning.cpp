#include "tensor/process_tuning.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <chrono>
#include <climits>
#include <cstdint>
#include <future>
#include <mutex>
#include <thread>

namespace maskfit::tensor {

namespace {

// More than LibTorch's grain of 32768 for each of two threads, so that it goes parallel. (at::parallel_for is
// no help: in our files, compiled without -fopenmp, it is a plain loop.)
constexpr std::int64_t kElementsForATeam = 1 << 18;

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);  // grow the heap in steps of this many bytes
#endif
}

// libgomp reads its spin count from the environment before main() runs, too early for us. But it stops
// spinning by itself once the process has more OpenMP threads than cores. So: one more thread that opened a
// parallel region of its own once, and with it a second team, and sleeps ever after.
void sleep_at_barriers() {
  static std::once_flag once;
  std::call_once(once, [] {
    const int threads = at::get_num_threads();
    if (threads < 2) return;
    std::promise<void> team_exists;
    std::thread([&team_exists] {
      at::zeros({kElementsForATeam}).add_(1);
      team_exists.set_value();
      for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
    }).detach();
    team_exists.get_future().wait();
  });
}

}  // namespace maskfit::tensor
