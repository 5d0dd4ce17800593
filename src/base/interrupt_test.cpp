#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/error.h"

namespace maskfit::base {
namespace {

TEST(StopToken, DefaultNeverStops) {
  EXPECT_FALSE(StopToken().stop_requested());
  EXPECT_NO_THROW(StopToken().throw_if_requested());
}

TEST(StopToken, FollowsItsFlag) {
  std::atomic<bool> flag{false};
  const StopToken token(&flag);
  EXPECT_FALSE(token.stop_requested());
  flag = true;
  EXPECT_TRUE(token.stop_requested());
  try {
    token.throw_if_requested();
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
}

// In a child, because the flag of a process is never cleared.
TEST(InterruptTokenDeathTest, FirstSignalSetsTheFlagSecondKills) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          const StopToken token = interrupt_token();
          if (token.stop_requested()) std::exit(1);
          std::raise(signal);
          std::exit(token.stop_requested() ? 0 : 2);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
          interrupt_token();
          std::raise(signal);
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "");
  }
}

}  // namespace
}  // namespace maskfit::base
