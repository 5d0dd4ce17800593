#include "ranks/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace maskfit::ranks {
namespace {

// The launcher starts this very program; what it is to do then is a test's name.
LaunchResult launch_test(int ranks, const std::string& test) {
  return launch({.ranks = ranks,
                 .words = {"ranks_test", "--gtest_also_run_disabled_tests",
                           "--gtest_filter=RankOfLauncher.DISABLED_" + test},
                 .stop = {},
                 .grace = std::chrono::milliseconds(300)});
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Not tests by themselves: what the ranks of the tests below do.
TEST(RankOfLauncher, DISABLED_IsWell) {
  EXPECT_EQ(variable("MASKFIT_RANKS"), "3");
  std::fprintf(stderr, "I am rank %s\n", variable("MASKFIT_RANK").c_str());
}
TEST(RankOfLauncher, DISABLED_RankOneIsKilled) {
  if (variable("MASKFIT_RANK") == "1") raise(SIGKILL);
  pause();
}
TEST(RankOfLauncher, DISABLED_RankTwoFails) {
  if (variable("MASKFIT_RANK") == "2") _exit(3);
  pause();
}

TEST(Launcher, RanksKnowWhoTheyAreAndTheirWordsAreKept) {
  const LaunchResult result = launch_test(3, "IsWell");
  EXPECT_EQ(result.first_to_fail, -1);
  ASSERT_EQ(result.ends.size(), 3u);
  EXPECT_THAT(result.ends[1].log, testing::HasSubstr("I am rank 1"));
  EXPECT_THAT(result.ends[2].log, testing::HasSubstr("I am rank 2"));
}

TEST(Launcher, OneThatIsKilledEndsAll) {
  const auto begin = std::chrono::steady_clock::now();
  const LaunchResult result = launch_test(3, "RankOneIsKilled");
  EXPECT_EQ(result.first_to_fail, 1);
  EXPECT_EQ(result.ends[1].signal, SIGKILL);
  EXPECT_NE(result.ends[0].signal, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Launcher, OneThatFailsEndsAll) {
  const LaunchResult result = launch_test(3, "RankTwoFails");
  EXPECT_EQ(result.first_to_fail, 2);
  EXPECT_EQ(result.ends[2].code, 3);
}

TEST(Launcher, TheOwnCommandLineIsWhole) {
  EXPECT_THAT(own_command_line().at(0), testing::HasSubstr("ranks_test"));
}

}  // namespace
}  // namespace maskfit::ranks
