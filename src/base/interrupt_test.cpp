#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

// The terminal closes: its shell and the kernel both say so.
TEST(InterruptTokenDeathTest, HangUpStopsInOrderHoweverOftenItComes) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_DFL);
        const StopToken token = interrupt_token();
        if (token.stop_requested()) std::exit(1);
        for (int i = 0; i < 3; ++i) std::raise(SIGHUP);
        std::exit(token.stop_requested() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

// Every message to a reader that has gone is another signal.
TEST(InterruptTokenDeathTest, ReaderOfTheMessagesThatHasGoneStopsInOrder) {
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_DFL);
        const StopToken token = interrupt_token();
        int ends[2];
        if (::pipe(ends) != 0) std::_Exit(3);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        for (int i = 0; i < 3; ++i) (void)!::write(STDERR_FILENO, "x", 1);
        std::_Exit(token.stop_requested() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptTokenDeathTest, AnotherBrokenPipeIsNoReasonToStop) {
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_DFL);
        const StopToken token = interrupt_token();
        int ends[2];
        if (::pipe(ends) != 0) std::_Exit(3);
        ::close(ends[0]);
        (void)!::write(ends[1], "x", 1);
        std::_Exit(token.stop_requested() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptTokenDeathTest, UnderNohupAHangUpIsNoReasonToStop) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        const StopToken token = interrupt_token();
        std::raise(SIGHUP);
        std::exit(token.stop_requested() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace maskfit::base
