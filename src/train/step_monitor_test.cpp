#include "train/step_monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace maskfit::train {
namespace {

StepNumbers numbers(double task, double norm = 1) {
  return {task, 0.5, norm, {task, 2 * task}};
}

TEST(StepMonitor, InfinityAndNanAreSick) {
  const StepMonitor monitor(2);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(monitor.judge(numbers(1)), Verdict::kSound);
  EXPECT_EQ(monitor.judge(numbers(nan)), Verdict::kNotFinite);
  EXPECT_EQ(monitor.judge(numbers(1, infinity)), Verdict::kNotFinite);
  EXPECT_EQ(monitor.judge(numbers(1, nan)), Verdict::kNotFinite);
}

TEST(StepMonitor, OutliersNeedAHistory) {
  StepMonitor monitor(2);
  EXPECT_EQ(monitor.judge(numbers(1, 1e6)), Verdict::kSound) << "the first steps may be wild";
  for (std::size_t i = 0; i < StepMonitor::kFewest; ++i) monitor.note_sound(numbers(1, 2));
  EXPECT_EQ(monitor.judge(numbers(1, 199)), Verdict::kSound);
  EXPECT_EQ(monitor.judge(numbers(1, 201)), Verdict::kOutlier);
}

TEST(StepMonitor, TheScaleFollowsTheRecentSteps) {
  StepMonitor monitor(2);
  for (std::size_t i = 0; i < StepMonitor::kWindow; ++i) monitor.note_sound(numbers(1, 100));
  for (std::size_t i = 0; i < StepMonitor::kWindow; ++i) monitor.note_sound(numbers(1, 1));
  EXPECT_EQ(monitor.norm_limit(), 100);
}

TEST(StepMonitor, ZeroGradientsAreNoScale) {
  StepMonitor monitor(2);
  for (int i = 0; i < 100; ++i) monitor.note_sound(numbers(1, 0));
  EXPECT_EQ(monitor.judge(numbers(1, 1)), Verdict::kSound);
}

TEST(StepMonitor, SickStepsInARowMeanLost) {
  StepMonitor monitor(2);
  for (int i = 0; i < StepMonitor::kSickStepsInARow - 1; ++i) monitor.note_sick();
  EXPECT_FALSE(monitor.lost());
  monitor.note_sound(numbers(1));
  for (int i = 0; i < StepMonitor::kSickStepsInARow; ++i) monitor.note_sick();
  EXPECT_TRUE(monitor.lost());
}

TEST(StepMonitor, MeansOfTheLogAndOfTheEpochAreApart) {
  StepMonitor monitor(2);
  monitor.note_sound(numbers(1));
  EXPECT_EQ(monitor.take_log_means().mean.task, 1);
  monitor.note_sound(numbers(3));
  const StepMeans log = monitor.take_log_means(), epoch = monitor.epoch_means();
  EXPECT_EQ(log.steps, 1);
  EXPECT_EQ(log.mean.task, 3);
  EXPECT_EQ(epoch.steps, 2);
  EXPECT_EQ(epoch.mean.task, 2);
  EXPECT_EQ(epoch.mean.parts[1], 4);
  EXPECT_EQ(epoch.mean.total(), 2.5);
  monitor.begin_epoch();
  EXPECT_EQ(monitor.epoch_means().steps, 0);
  EXPECT_EQ(monitor.epoch_means().mean.task, 0);
}

TEST(StepMonitor, AResumedOneGoesOnAsIfNothingHadHappened) {
  StepMonitor one(2), other(2);
  for (int i = 0; i < 70; ++i) one.note_sound(numbers(i / 3.0, 1 + i % 7));
  one.note_sick();
  other.set_state(one.state());
  one.note_sound(numbers(5));
  other.note_sound(numbers(5));
  EXPECT_EQ(one.state(), other.state());
  EXPECT_EQ(one.norm_limit(), other.norm_limit());
}

TEST(StepMonitor, StateOfAnotherVersionIsRefused) {
  StepMonitor monitor(2);
  auto state = monitor.state();
  state.erase("monitor/norms");
  EXPECT_THROW(monitor.set_state(state), base::Error);
}

}  // namespace
}  // namespace maskfit::train
