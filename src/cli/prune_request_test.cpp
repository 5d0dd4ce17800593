#include "cli/prune_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::cli {
namespace {

base::Error refusal(const std::string& threshold, const std::string& parameters = "",
                    const std::string& macs = "", const std::string& latency = "") {
  try {
    prune_goal(threshold, parameters, macs, latency);
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(PruneGoalTest, SharesAndSpeedsInTheirUnits) {
  EXPECT_DOUBLE_EQ(*prune_goal("0.5", "", "", "").threshold, 0.5);
  EXPECT_NEAR(*prune_goal("", "12%", "", "").parameters, 0.12, 1e-7);
  EXPECT_NEAR(*prune_goal("", "12 %", "", "").parameters, 0.12, 1e-7);
  EXPECT_NEAR(*prune_goal("", "", "0.3", "").macs, 0.3, 1e-7);
  EXPECT_NEAR(*prune_goal("", "100%", "", "").parameters, 1, 1e-12);
  EXPECT_NEAR(*prune_goal("", "", "", "8ms").pictures_per_second, 125, 1e-9);
  EXPECT_NEAR(*prune_goal("", "", "", "120 img/s").pictures_per_second, 120, 1e-9);
}

TEST(PruneGoalTest, ExactlyOneGoal) {
  EXPECT_THAT(refusal("").hint(), testing::HasSubstr("--keep-params 12%"));
  EXPECT_EQ(refusal("0.5", "12%").code(), base::ExitCode::kUsage);
}

TEST(PruneGoalTest, WordsThatCannotBeRead) {
  for (const char* threshold : {"nan", "inf", "-0.1", "much", "0.5x"}) {
    EXPECT_EQ(refusal(threshold).where(), "--threshold") << threshold;
  }
  for (const char* share : {"0%", "0", "-3%", "101%", "12", "nan", "%", "half"}) {
    EXPECT_EQ(refusal("", share).where(), "--keep-params") << share;
  }
  for (const char* latency : {"8", "0ms", "-1img/s", "ms", "8 s"}) {
    EXPECT_EQ(refusal("", "", "", latency).where(), "--latency") << latency;
  }
}

}  // namespace
}  // namespace maskfit::cli
