#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace maskfit::base {
namespace {

TEST(ParallelFor, EveryItemExactlyOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_for(
        1000, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; }, threads);
    for (const auto& count : visits) ASSERT_EQ(count, 1) << threads << " threads";
  }
}

TEST(ParallelFor, NothingToDo) {
  parallel_for(0, [](std::int64_t) { FAIL() << "called for an empty range"; });
}

TEST(ParallelFor, SlowItemDoesNotHoldTheOthersUp) {
  std::atomic<int> done{0};
  // Item 0 waits until all others are done: with a fixed share a thread they would not be.
  parallel_for(
      100,
      [&](std::int64_t i) {
        while (i == 0 && done < 99) std::this_thread::yield();
        ++done;
      },
      2);
  EXPECT_EQ(done, 100);
}

TEST(ParallelFor, FirstExceptionIsRethrownAndStopsTheRest) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls{0};
    EXPECT_THROW(parallel_for(
                     100000,
                     [&](std::int64_t i) {
                       ++calls;
                       if (i == 3) throw std::runtime_error("item 3");
                     },
                     threads),
                 std::runtime_error);
    EXPECT_LT(calls, 100000) << threads << " threads";
  }
}

TEST(UsableCores, AtLeastOneAndNotMoreThanThereAre) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace maskfit::base
