#include "train/schedule.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::train {
namespace {

spec::LearningRateConfig soft_start(float start, float annealing) {
  spec::LearningRateConfig config;
  auto* schedule = config.mutable_soft_start_annealing_schedule();
  schedule->set_min_learning_rate(1e-4f);
  schedule->set_max_learning_rate(1e-2f);
  schedule->set_soft_start(start);
  schedule->set_annealing(annealing);
  return config;
}

spec::LearningRateConfig early_stopping() {
  spec::LearningRateConfig config;
  auto* schedule = config.mutable_early_stopping_annealing_schedule();
  schedule->set_min_learning_rate(1e-4f);
  schedule->set_max_learning_rate(1e-2f);
  schedule->set_soft_start_epochs(2);
  schedule->set_annealing_epochs(3);
  schedule->set_patience_steps(2);
  return config;
}

spec::LearningRateConfig warmup_cosine() {
  spec::LearningRateConfig config;
  auto* schedule = config.mutable_warmup_cosine_schedule();
  schedule->set_max_learning_rate(2e-3f);
  schedule->set_min_learning_rate(2e-5f);
  schedule->set_warmup_epochs(1.5f);
  return config;
}

TEST(ScheduleTest, SoftStartBeginsAtTheMinimumAndEndsAboveIt) {
  const LearningRate rate(soft_start(0.2f, 0.5f), 10, 10);
  EXPECT_NEAR(rate.at(0), 1e-4, 1e-10);
  EXPECT_NEAR(rate.at(10), 1e-3, 1e-8);
  EXPECT_NEAR(rate.at(20), 1e-2, 1e-8);
  EXPECT_NEAR(rate.at(50), 1e-2, 1e-8);
  EXPECT_GT(rate.at(99), 1e-4);
  EXPECT_NEAR(rate.at(100), 1e-4, 1e-10);
  EXPECT_EQ(rate.at(1000), rate.at(100));
}

TEST(ScheduleTest, WarmupRisesFromOneStepAndCosineEndsAtTheMinimum) {
  const LearningRate rate(warmup_cosine(), 10, 10);
  EXPECT_NEAR(rate.at(0), 2e-3 / 15, 1e-9);
  EXPECT_NEAR(rate.at(14), 2e-3, 1e-9);
  EXPECT_NEAR(rate.at(15), 2e-3, 1e-9);
  EXPECT_NEAR(rate.at(57), 0.5 * (2e-3 + 2e-5), 1e-8);
  EXPECT_NEAR(rate.at(99), 2e-5, 1e-9);
  EXPECT_NEAR(rate.at(200), 2e-5, 1e-9);
  for (std::int64_t step = 16; step < 100; ++step) EXPECT_LT(rate.at(step), rate.at(step - 1)) << step;
}

TEST(ScheduleTest, RunShorterThanItsWarmupOnlyRises) {
  const LearningRate rate(warmup_cosine(), 10, 1);
  EXPECT_NEAR(rate.at(9), 2e-3 * 10 / 15, 1e-9);
}

TEST(ScheduleTest, ImprovingCostNeverAnneals) {
  LearningRate rate(early_stopping(), 10, 100);
  for (std::int64_t epoch = 1; epoch < 50; ++epoch)
    rate.observe(epoch, 1.0 / static_cast<double>(epoch), 10 * epoch);
  EXPECT_FALSE(rate.stop());
  EXPECT_NEAR(rate.at(490), 1e-2, 1e-8);
}

TEST(ScheduleTest, EqualCostIsNoImprovement) {
  LearningRate rate(early_stopping(), 10, 100);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) rate.observe(epoch, 0.5, 10 * epoch);
  EXPECT_NEAR(rate.at(45), 1e-3, 1e-8) << "the annealing begins with step 30 and lasts 30 steps";
}

TEST(ScheduleTest, AnnealingStopsOnlyAfterItsLength) {
  LearningRate rate(early_stopping(), 10, 100);
  for (std::int64_t epoch = 1; epoch <= 6; ++epoch) rate.observe(epoch, 0.5, 10 * epoch);
  EXPECT_FALSE(rate.stop()) << "step 60 is exactly 30 steps into the annealing";
  rate.observe(7, 0.5, 70);
  EXPECT_TRUE(rate.stop());
}

TEST(ScheduleTest, OtherSchedulesIgnoreTheValidation) {
  LearningRate rate(soft_start(0.1f, 0.7f), 10, 10);
  EXPECT_FALSE(rate.listens_to_validation());
  for (std::int64_t epoch = 1; epoch <= 9; ++epoch) rate.observe(epoch, 0.5, 10 * epoch);
  EXPECT_FALSE(rate.stop());
}

TEST(ScheduleTest, StateSurvivesACheckpoint) {
  LearningRate rate(early_stopping(), 10, 100);
  EXPECT_EQ(rate.state()[3], std::numeric_limits<double>::infinity());
  for (std::int64_t epoch = 1; epoch <= 4; ++epoch) rate.observe(epoch, 0.5, 10 * epoch);
  LearningRate resumed(early_stopping(), 10, 100);
  resumed.set_state(rate.state());
  for (std::int64_t epoch = 5; epoch <= 7; ++epoch) {
    EXPECT_EQ(resumed.at(10 * epoch), rate.at(10 * epoch));
    rate.observe(epoch, 0.6, 10 * epoch);
    resumed.observe(epoch, 0.6, 10 * epoch);
  }
  EXPECT_TRUE(rate.stop());
  EXPECT_TRUE(resumed.stop());
  EXPECT_THROW(resumed.set_state({1, 2}), base::CheckFailed);
}

TEST(ScheduleTest, SpecWithoutScheduleNamesTheChoices) {
  try {
    const LearningRate rate({}, 10, 10);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_EQ(error.where(), "training_config.learning_rate");
  }
}

TEST(ScheduleTest, NothingToTrainOnIsOurMistake) {
  EXPECT_THROW(steps_per_epoch(0, 4, 1), base::CheckFailed);
  EXPECT_EQ(steps_per_epoch(1, 4, 8), 1);
}

}  // namespace
}  // namespace maskfit::train
