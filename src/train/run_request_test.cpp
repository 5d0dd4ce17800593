#include "train/run_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::train {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kClasses = {"mask", "no-mask"};

std::optional<base::Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(RunRequest, NothingGivenIsTheScratchRecipeForTheDatasClasses) {
  const spec::Experiment experiment = effective_experiment({}, kClasses, true);
  EXPECT_EQ(experiment.training_config().recipe(), spec::TrainingConfig::SCRATCH);
  EXPECT_THAT(class_names_of(experiment), ElementsAre("mask", "no-mask"));
}

TEST(RunRequest, OptionsLandInTheSpec) {
  RunRequest request;
  request.recipe = "tlt";
  request.backbone = "resnet10";
  request.size = "640x320";
  request.precision = "bf16";
  request.epochs = 7;
  request.batch = 3;
  request.seed = 99;
  const spec::Experiment experiment = effective_experiment(request, kClasses, true);
  EXPECT_EQ(experiment.model_config().arch(), "resnet");
  EXPECT_EQ(experiment.model_config().num_layers(), 10);
  EXPECT_EQ(experiment.augmentation_config().preprocessing().output_image_width(), 640u);
  EXPECT_EQ(experiment.augmentation_config().preprocessing().output_image_height(), 320u);
  EXPECT_EQ(experiment.training_config().precision(), spec::TrainingConfig::BF16);
  EXPECT_EQ(experiment.training_config().num_epochs(), 7u);
  EXPECT_EQ(experiment.training_config().batch_size_per_gpu(), 3u);
  EXPECT_EQ(experiment.random_seed(), 99u);
  EXPECT_EQ(experiment.training_config().recipe(), spec::TrainingConfig::TLT);
}

TEST(RunRequest, AssignmentsComeLast) {
  RunRequest request;
  request.epochs = 7;
  request.assignments = {"training_config.num_epochs=9"};
  EXPECT_EQ(effective_experiment(request, kClasses, true).training_config().num_epochs(), 9u);
}

TEST(RunRequest, MalformedOptionsNameTheOptionAndTheForm) {
  const auto expect = [](const std::function<void(RunRequest&)>& spoil, const std::string& where) {
    RunRequest request;
    spoil(request);
    const auto error = error_of([&] { effective_experiment(request, kClasses, true); });
    ASSERT_TRUE(error) << where;
    EXPECT_EQ(error->code(), base::ExitCode::kUsage) << where;
    EXPECT_EQ(error->where(), where);
  };
  expect([](RunRequest& r) { r.size = "960"; }, "--size");
  expect([](RunRequest& r) { r.size = "960x-544"; }, "--size");
  expect([](RunRequest& r) { r.backbone = "resnet"; }, "--backbone");
  expect([](RunRequest& r) { r.precision = "fp8"; }, "--precision");
  expect([](RunRequest& r) { r.recipe = "magic"; }, "--recipe");
  expect([](RunRequest& r) { r.epochs = 0; }, "--epochs");
  expect([](RunRequest& r) { r.seed = -1; }, "--seed");
}

TEST(RunRequest, ValuesOutOfRangeAreRefusedByTheSpecsRules) {
  RunRequest request;
  request.size = "650x544";
  const auto error = error_of([&] { effective_experiment(request, kClasses, true); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), base::ExitCode::kRefused);
  EXPECT_THAT(error->what(), HasSubstr("output_image_width"));
}

TEST(RunRequest, UnknownFieldOfAnAssignmentIsRefused) {
  RunRequest request;
  request.assignments = {"training_config.num_epoch=9"};
  const auto error = error_of([&] { effective_experiment(request, kClasses, true); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("num_epoch"));
}

TEST(RunRequest, ResumeMayLengthenTheRunButNotChangeIt) {
  RunRequest request;
  request.epochs = 10;
  const spec::Experiment stored = effective_experiment(request, kClasses, true);
  EXPECT_EQ(resumed_experiment(stored, {}, kClasses, true).training_config().num_epochs(), 10u);
  EXPECT_EQ(resumed_experiment(stored, request, kClasses, true).training_config().num_epochs(), 10u);
  request.epochs = 20;
  EXPECT_EQ(resumed_experiment(stored, request, kClasses, true).training_config().num_epochs(), 20u);
  request.size = "320x320";
  const auto error = error_of([&] { resumed_experiment(stored, request, kClasses, true); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("output_image_width"));
}

TEST(RunRequest, ResumingWithoutTheDatasetSaysThatItHasToBeNamed) {
  const spec::Experiment stored =
      effective_experiment({}, kClasses, true);  // of a dataset, so without data_sources
  const auto error = error_of([&] { resumed_experiment(stored, {}, {}, /*data_given=*/false); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), base::ExitCode::kUsage);
  EXPECT_THAT(error->hint(), HasSubstr("maskfit train DATASET"));
}

TEST(RunRequest, TheScratchRecipeAdaptsToTheBatch) {
  RunRequest request;
  const auto training = [&request] {
    return effective_experiment(request, kClasses, true).training_config();
  };
  const auto rate = [](const spec::TrainingConfig& config) {
    return config.learning_rate().warmup_cosine_schedule().max_learning_rate();
  };
  const spec::TrainingConfig as_it_is = training();
  request.batch = 4 * static_cast<std::int64_t>(as_it_is.batch_size_per_gpu());
  EXPECT_FLOAT_EQ(rate(training()), 2 * rate(as_it_is));
  EXPECT_NEAR(1 - training().ema_decay(), 4 * (1 - as_it_is.ema_decay()), 1e-6);
  request.batch = as_it_is.batch_size_per_gpu();
  EXPECT_FLOAT_EQ(rate(training()), rate(as_it_is));
  request.batch = 64;
  request.assignments = {"training_config.learning_rate.warmup_cosine_schedule.max_learning_rate=0.003"};
  EXPECT_FLOAT_EQ(rate(training()), 0.003f) << "what --set says is what is meant";
}

}  // namespace
}  // namespace maskfit::train
