#include "tensor/process_tuning.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

namespace maskfit::tensor {
namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Writes to a fresh buffer as a step of a training does.
void use_buffer() {
  std::vector<char> buffer(48 << 20);
  std::memset(buffer.data(), 1, buffer.size());
}

TEST(ProcessTuning, BuffersAreFaultedInOnce) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer brings an allocator of its own";
#endif
  keep_freed_memory();
  use_buffer();
  const long before = page_faults();
  for (int i = 0; i < 5; ++i) use_buffer();
  EXPECT_LT(page_faults() - before, 100) << "a page each 4 KiB would be 61440";
}

int threads_of_this_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// The second team is what makes libgomp stop spinning.
TEST(ProcessTuning, ASecondTeamOfThreadsExistsOnce) {
  at::set_num_threads(2);
  const int before = threads_of_this_process();
  sleep_at_barriers();
  EXPECT_GE(threads_of_this_process(), before + 2) << "the sleeper and its team";
  const int after = threads_of_this_process();
  sleep_at_barriers();
  EXPECT_EQ(threads_of_this_process(), after);
  EXPECT_EQ(at::ones({1 << 20}).sum().item<float>(), 1 << 20);
}

}  // namespace
}  // namespace maskfit::tensor
