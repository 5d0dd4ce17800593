#include "train/step_reports.h"

#include <gtest/gtest.h>

namespace maskfit::train {
namespace {

int reports_in_an_epoch(std::int64_t steps, std::int64_t wanted) {
  const std::int64_t interval = log_interval(steps, wanted);
  int reports = 0;
  for (std::int64_t step = 1; step <= steps; ++step) reports += step % interval == 0 || step == steps;
  return reports;
}

TEST(LogInterval, TenReportsAnEpochByDefault) {
  EXPECT_EQ(reports_in_an_epoch(100, 0), 10);
  EXPECT_EQ(reports_in_an_epoch(100, 4), 4);
}

// The reference refuses a training set with fewer steps than reports; there is no need to.
TEST(LogInterval, ShortEpochsReportEveryStep) {
  EXPECT_EQ(reports_in_an_epoch(1, 10), 1);
  EXPECT_EQ(reports_in_an_epoch(3, 10), 3);
}

TEST(LogInterval, AStepsRemainderDoesNotLoseTheEndOfTheEpoch) {
  for (std::int64_t steps = 1; steps < 200; ++steps) {
    const int reports = reports_in_an_epoch(steps, 10);
    EXPECT_GE(reports, std::min<std::int64_t>(steps, 10)) << steps;
    EXPECT_LE(reports, 20) << steps;
  }
}

}  // namespace
}  // namespace maskfit::train
