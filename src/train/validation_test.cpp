#include "train/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace maskfit::train {
namespace {

std::vector<int> due_epochs(int epochs, int first, int period) {
  spec::EvaluationConfig config;
  config.set_first_validation_epoch(first);
  config.set_validation_period_during_training(period);
  std::vector<int> due;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    if (validation_is_due(epoch, epochs, config)) due.push_back(epoch);
  }
  return due;
}

TEST(Validation, IsDueAtTheFirstEpochThenEveryPeriodAndAtTheEnd) {
  EXPECT_THAT(due_epochs(25, 5, 10), testing::ElementsAre(5, 15, 25));
  EXPECT_THAT(due_epochs(12, 5, 10), testing::ElementsAre(5, 12));
  EXPECT_THAT(due_epochs(3, 10, 10), testing::ElementsAre(3));
  EXPECT_THAT(due_epochs(4, 1, 1), testing::ElementsAre(1, 2, 3, 4));
}

TEST(Validation, ThresholdIsThatOfTheBestF1) {
  evaluate::ClassResult result;
  result.curve = {{0.9f, 1.0, 0.2}, {0.6f, 0.9, 0.8}, {0.3f, 0.5, 0.9}};
  EXPECT_EQ(best_f1_confidence(result), 0.6f);
}

TEST(Validation, ClassWithoutTruthsHasNoThreshold) {
  evaluate::ClassResult result;
  result.curve = {{0.9f, 0.0, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_EQ(best_f1_confidence(result), 0);
  EXPECT_EQ(best_f1_confidence({}), 0);
}

}  // namespace
}  // namespace maskfit::train
