#include "base/background.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace maskfit::base {
namespace {

TEST(Background, DoesOnePieceAfterTheOther) {
  std::vector<int> done;
  Background background;
  for (int i = 0; i < 20; ++i) background.submit([&done, i] { done.push_back(i); });
  background.drain();
  ASSERT_EQ(done.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(Background, DoesNotWaitForTheWork) {
  std::atomic<bool> go{false};
  Background background;
  background.submit([&go] {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  go = true;  // reached only because submit() has returned
  background.drain();
}

TEST(Background, RethrowsOnce) {
  Background background;
  background.submit([] { throw std::runtime_error("disk full"); });
  EXPECT_THROW(background.drain(), std::runtime_error);
  EXPECT_NO_THROW(background.drain());
  background.submit([] { throw std::runtime_error("disk full"); });
  // Known at the latest when so many pieces wait that the failed one must have been done.
  EXPECT_THROW(
      {
        for (std::size_t i = 0; i < Background::kWaiting + 2; ++i) background.submit([] {});
      },
      std::runtime_error);
  background.drain();
  int done = 0;
  background.submit([&done] { ++done; });
  background.drain();
  EXPECT_EQ(done, 1);
}

TEST(Background, FinishesBeforeItGoes) {
  std::atomic<int> done{0};
  {
    Background background;
    background.submit([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++done;
    });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace maskfit::base
