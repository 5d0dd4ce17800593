#include "train/prepare_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/tfrecords.h"
#include "tests/support/temp_dir.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class PrepareRunTest : public testing::Test {
 protected:
  PrepareRunTest() {
    data_.root = dir_ / "faces";
    data_.class_names = {"mask", "no-mask"};
    for (int i = 0; i < 3; ++i) {
      dataset::Sample sample;
      sample.id = "p" + std::to_string(i);
      sample.image = dir_ / "pictures" / (sample.id + ".png");
      sample.width = sample.height = 32;
      sample.split = i == 2 ? "val" : "train";
      sample.boxes = {{{2, 2, 20, 20}, i % 2 == 0 ? "mask" : "no-mask", false, {}}};
      image::write_image(sample.image, {32, 32, 3, std::vector<std::uint8_t>(3 * 32 * 32, 40)});
      data_.samples.push_back(sample);
    }
    dataset::write_dataset(data_, {}, "test");
    request_.size = "64x64";
    place_ = {.data = data_.root, .out = dir_ / "run"};
  }

  support::TempDir dir_;
  dataset::Dataset data_;
  RunRequest request_;
  RunPlace place_;
};

TEST_F(PrepareRunTest, TheFolderHoldsTheEffectiveSpecAndIsLocked) {
  const PreparedRun run = prepare_run(request_, place_);
  EXPECT_THAT(base::read_file(run.folder.spec()), HasSubstr("output_image_width: 64"));
  EXPECT_THROW(prepare_run(request_, place_), base::Error) << "another training is writing there";
  EXPECT_EQ(run.data.train.size(), 2u);
  EXPECT_EQ(run.classes.class_names.size(), 2u);
}

TEST_F(PrepareRunTest, ARefusedRequestLeavesNoFolder) {
  request_.size = "65x64";
  EXPECT_THROW(prepare_run(request_, place_), base::Error);
  EXPECT_FALSE(fs::exists(dir_ / "run"));
}

// Whatever the machine cannot do is said before a folder stands in the way of the corrected command.
TEST_F(PrepareRunTest, WhatTheMachineLacksLeavesNoFolder) {
  const auto code_of = [&] {
    try {
      prepare_run(request_, place_);
    } catch (const base::Error& error) {
      return error.code();
    }
    return base::ExitCode::kDone;
  };
  place_.device = "tpu";
  EXPECT_EQ(code_of(), base::ExitCode::kUsage);
  place_.device = "cpu";
  request_.precision = "fp16";
  EXPECT_EQ(code_of(), base::ExitCode::kMachine);
  request_.precision.reset();
  request_.batch = 2000000000;
  EXPECT_EQ(code_of(), base::ExitCode::kMachine);
  request_.batch = 2;
  request_.size = "1600000x960000";
  EXPECT_EQ(code_of(), base::ExitCode::kRefused);
  request_.size = "16384x16384";
  request_.batch = 100000;
  EXPECT_EQ(code_of(), base::ExitCode::kMachine);
  request_ = {};
  request_.size = "64x64";
  request_.assignments = {"model_config.pretrained_model_file=\"nowhere.safetensors\""};
  EXPECT_EQ(code_of(), base::ExitCode::kFailed);
  EXPECT_FALSE(fs::exists(dir_ / "run"));
}

// What `spec check` warns of, training says, too; and nothing of what the user did not write.
TEST_F(PrepareRunTest, FieldsWithoutEffectAreWarnedOf) {
  { EXPECT_TRUE(prepare_run(request_, place_).data.findings.empty()); }
  request_.assignments = {"model_config.dropout_rate=0.3"};
  const PreparedRun run = prepare_run(request_, {.data = data_.root, .out = dir_ / "run2"});
  ASSERT_EQ(run.data.findings.size(), 1u);
  EXPECT_EQ(run.data.findings[0].severity, base::Severity::kWarning);
  EXPECT_THAT(base::to_string(run.data.findings[0]), HasSubstr("model_config.dropout_rate: has no effect"));
}

TEST_F(PrepareRunTest, ADatasetIsNoRunFolder) {
  place_.out = place_.data;
  EXPECT_THROW(prepare_run(request_, place_), base::Error);
  EXPECT_FALSE(fs::exists(place_.data / "experiment_spec.txt"));
}

// In a folder with a run, the mistake in the command is still what is said first.
TEST_F(PrepareRunTest, AnUnknownDeviceComesBeforeTheOccupiedFolder) {
  base::write_file(dir_ / "run/model.safetensors", "x");
  place_.device = "tpu";
  try {
    prepare_run(request_, place_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kUsage);
  }
}

TEST_F(PrepareRunTest, ResumeReadsTheStoredSpecBack) {
  spec::Experiment first;
  { first = prepare_run(request_, place_).experiment; }
  place_.resume = true;
  const PreparedRun run = prepare_run({}, place_);
  EXPECT_EQ(run.experiment.DebugString(), first.DebugString());
}

TEST_F(PrepareRunTest, NoDataAtAllIsAUsageError) {
  try {
    prepare_run({}, {.data = "", .out = dir_ / "run"});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kUsage);
    EXPECT_THAT(error.hint(), HasSubstr("--spec"));
  }
}

// The reference's way: a spec file that names TFRecords and a picture folder, relative to itself.
TEST_F(PrepareRunTest, SpecFileAloneNamesTfrecords) {
  dataset::export_tfrecords(data_, {.prefix = (dir_ / "records/faces").string(), .num_shards = 1});
  base::write_file(dir_ / "train.txt", R"(
    training_config { recipe: TLT }
    dataset_config {
      data_sources { tfrecords_path: "records/faces*" image_directory_path: "." }
      image_extension: "png"
      target_class_mapping { key: "mask" value: "mask" }
      target_class_mapping { key: "no-mask" value: "no-mask" }
      validation_fold: 0
    }
    cost_function_config {
      target_classes { name: "mask" class_weight: 1 coverage_foreground_weight: 0.05
        objectives { name: "cov" initial_weight: 1 weight_target: 1 }
        objectives { name: "bbox" initial_weight: 10 weight_target: 10 } }
      target_classes { name: "no-mask" class_weight: 8 coverage_foreground_weight: 0.05
        objectives { name: "cov" initial_weight: 1 weight_target: 1 }
        objectives { name: "bbox" initial_weight: 10 weight_target: 1 } }
    })");
  request_.spec_file = dir_ / "train.txt";
  const PreparedRun run = prepare_run(request_, {.data = "", .out = dir_ / "run"});
  EXPECT_EQ(run.data.train.size(), 2u);
  EXPECT_EQ(run.data.val.size(), 1u);
  EXPECT_EQ(run.data.train[0].sample->boxes.at(0).box_in_image, data_.samples[0].boxes[0].box_in_image);
}

TEST(DefaultRunFolder, IsNamedAfterTheData) {
  EXPECT_THAT(default_run_folder("data/masks").string(), testing::MatchesRegex("runs/masks-[0-9]+-[0-9]+"));
  EXPECT_THAT(default_run_folder("data/masks/").string(), HasSubstr("runs/masks-"));
  EXPECT_THAT(default_run_folder("records/faces*@pictures").string(), HasSubstr("runs/faces-"));
}

}  // namespace
}  // namespace maskfit::train
