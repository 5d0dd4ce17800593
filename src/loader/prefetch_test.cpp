#include "loader/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace maskfit::loader {
namespace {
using namespace std::chrono_literals;

TEST(Prefetch, OrderDoesNotDependOnWhichThreadIsQuick) {
  Prefetch<std::int64_t> items(3, 40, 4, 6, [](std::int64_t i) {
    if (i % 3 == 0) std::this_thread::sleep_for(1ms);
    return i * i;
  });
  for (std::int64_t i = 3; i < 40; ++i) {
    ASSERT_FALSE(items.done());
    EXPECT_EQ(items.next(), i * i);
  }
  EXPECT_TRUE(items.done());
}

TEST(Prefetch, NeverWorksFurtherAheadThanAsked) {
  std::atomic<std::int64_t> highest{-1};
  Prefetch<int> items(0, 100, 3, 4, [&](std::int64_t i) {
    std::int64_t seen = highest;
    while (i > seen && !highest.compare_exchange_weak(seen, i)) {
    }
    return 0;
  });
  for (std::int64_t taken = 0; taken < 20; ++taken) {
    std::this_thread::sleep_for(200us);
    EXPECT_LT(highest.load(), taken + 4);
    items.next();
  }
}

TEST(Prefetch, ErrorArrivesAtItsOwnItem) {
  Prefetch<int> items(0, 10, 2, 4, [](std::int64_t i) -> int {
    if (i == 2) throw std::runtime_error("torn picture");
    return static_cast<int>(i);
  });
  EXPECT_EQ(items.next(), 0);
  EXPECT_EQ(items.next(), 1);
  EXPECT_THROW(items.next(), std::runtime_error);
  EXPECT_EQ(items.next(), 3);
}

TEST(Prefetch, LeavingEarlyDoesNotHang) {
  Prefetch<int> items(0, 1000000, 2, 2, [](std::int64_t) { return 0; });
  items.next();
}

TEST(Prefetch, NothingToDo) {
  Prefetch<int> items(5, 5, 2, 2, [](std::int64_t) { return 0; });
  EXPECT_TRUE(items.done());
}

}  // namespace
}  // namespace maskfit::loader
