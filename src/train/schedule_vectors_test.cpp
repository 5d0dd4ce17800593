// The reference's schedules and step counts.

#include <gtest/gtest.h>

#include "tests/support/vectors.h"
#include "train/schedule.h"

namespace maskfit::train {
namespace {

using support::vector_group;

spec::SoftStartAnnealingSchedule soft_start_schedule(const nlohmann::json& rates,
                                                     const nlohmann::json& shape) {
  spec::SoftStartAnnealingSchedule schedule;
  schedule.set_min_learning_rate(rates.at("min_lr").get<float>());
  schedule.set_max_learning_rate(rates.at("max_lr").get<float>());
  schedule.set_soft_start(shape.at("soft_start").get<float>());
  schedule.set_annealing(shape.at("annealing").get<float>());
  return schedule;
}

// The spec's numbers are float32, the vectors' double: 1e-5 of the value, as the vectors' note allows.
void expect_rates(const spec::SoftStartAnnealingSchedule& schedule, const std::vector<double>& progress,
                  const std::vector<double>& expected) {
  ASSERT_EQ(progress.size(), expected.size());
  for (std::size_t i = 0; i < progress.size(); ++i) {
    EXPECT_NEAR(soft_start_annealing_rate(schedule, progress[i]), expected[i], 1e-5 * expected[i])
        << progress[i];
  }
}

TEST(ScheduleVectorsTest, SoftStartAnnealing) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : vector_group("lr_softstart")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const auto& input = vector.at("input");
    std::vector<double> progress;
    if (input.contains("progress")) {
      progress = input.at("progress").get<std::vector<double>>();
    } else {
      for (const double step : input.at("steps"))
        progress.push_back(step / input.at("last_step").get<double>());
    }
    const auto& rates = vector.at("expected").at("lr");
    if (!input.contains("cases")) {
      expect_rates(soft_start_schedule(input, input), progress, rates.get<std::vector<double>>());
      continue;
    }
    for (std::size_t i = 0; i < input.at("cases").size(); ++i) {
      expect_rates(soft_start_schedule(input, input.at("cases")[i]), progress,
                   rates[i].get<std::vector<double>>());
    }
  }
}

TEST(ScheduleVectorsTest, EarlyStoppingRates) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : vector_group("lr_early_stopping")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const auto& input = vector.at("input");
    spec::EarlyStoppingAnnealingSchedule schedule;
    schedule.set_min_learning_rate(input.at("min_lr").get<float>());
    schedule.set_max_learning_rate(input.at("max_lr").get<float>());
    // With one step an epoch, epochs are steps.
    schedule.set_soft_start_epochs(input.at("soft_start_steps").get<unsigned>());
    schedule.set_annealing_epochs(input.at("annealing_steps").get<unsigned>());
    const auto& expected = vector.at("expected").at("lr");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const EarlyStoppingState state{.annealing = input.at("in_annealing")[i].get<bool>()};
      const auto step = input.at("lr_phase_step")[i].get<std::int64_t>();
      EXPECT_NEAR(early_stopping_rate(schedule, state, step, 1), expected[i].get<double>(),
                  vector.at("tolerance").get<double>())
          << i;
    }
  }
}

TEST(ScheduleVectorsTest, EarlyStoppingPhases) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : vector_group("early_stopping")) {
    const auto& input = vector.at("input");
    spec::LearningRateConfig config;
    auto* schedule = config.mutable_early_stopping_annealing_schedule();
    schedule->set_min_learning_rate(0.001f);
    schedule->set_max_learning_rate(0.1f);
    schedule->set_patience_steps(input.at("patience_steps").get<unsigned>());
    schedule->set_annealing_epochs(input.at("annealing_epochs").get<unsigned>());
    const auto per_epoch = input.at("steps_per_epoch").get<std::int64_t>();
    LearningRate rate(config, per_epoch, 100);
    const auto& trace = vector.at("expected").at("trace");
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const auto& expected = trace[i];
      const auto epoch = expected.at("epoch").get<std::int64_t>();
      SCOPED_TRACE(epoch);
      EXPECT_FALSE(rate.stop());
      rate.observe(epoch, input.at("costs")[i][1].get<double>(), epoch * per_epoch);
      const std::vector<double> state = rate.state();
      EXPECT_EQ(state[0] != 0, expected.at("in_annealing").get<bool>());
      EXPECT_EQ(rate.stop(), expected.at("stop").get<bool>());
      EXPECT_EQ(state[2], expected.at("phase_start_step").get<double>());
      EXPECT_EQ(state[3], expected.at("best").get<double>());
      EXPECT_EQ(state[4], expected.at("best_epoch").get<double>());
    }
    EXPECT_TRUE(rate.stop());
  }
}

TEST(ScheduleVectorsTest, StepsPerEpoch) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : vector_group("training_loop")) {
    const auto& cases = vector.at("input").at("cases");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto steps =
          steps_per_epoch(cases[i].at("n").get<std::int64_t>(), cases[i].at("batch").get<std::int64_t>(),
                          cases[i].at("gpus").get<std::int64_t>());
      EXPECT_EQ(steps, vector.at("expected").at("steps")[i].get<std::int64_t>());
    }
  }
}

}  // namespace
}  // namespace maskfit::train
