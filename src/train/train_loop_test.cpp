#include "train/train_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "dataset/synthetic.h"
#include "dataset/tfrecords.h"
#include "formats/kitti.h"
#include "runs/checkpoint_store.h"
#include "runs/metrics_log.h"
#include "tests/support/temp_dir.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// Ends the run after some step, as Ctrl-C would, and remembers what was told.
class StopAfter : public Observer {
 public:
  explicit StopAfter(std::int64_t step = -1) : step_(step) {}
  void on_progress(const StepReport& report) override {
    if (report.at.step == step_) stopped_ = true;
  }
  void on_notice(Notice, const std::string& sentence) override { notices.push_back(sentence); }
  base::StopToken token() const { return base::StopToken(&stopped_); }

  std::vector<std::string> notices;

 private:
  std::int64_t step_;
  std::atomic<bool> stopped_{false};
};

// Twelve small drawn pictures, a narrow network, four epochs of three steps.
class TrainLoopTest : public testing::Test {
 protected:
  TrainLoopTest() {
    dataset::SyntheticOptions drawn;
    drawn.pictures = 16;
    drawn.size = {96, 64};
    drawn.min_face_height = 16;
    drawn.max_face_height = 40;
    drawn.val_percent = 25;
    data_ = dataset::write_synthetic(drawn, dir_ / "data");
    request_.backbone = "resnet10";
    request_.size = "96x64";
    request_.batch = 4;
    request_.epochs = 4;
    request_.assignments = {"model_config.width_multiplier=0.25", "training_config.checkpoint_interval=1",
                            "training_config.deterministic=true",
                            "evaluation_config.first_validation_epoch=2",
                            "evaluation_config.validation_period_during_training=2"};
  }

  TrainResult run(const std::string& name, bool resume = false, StopAfter* observer = nullptr) {
    StopAfter silent;
    StopAfter& seen = observer ? *observer : silent;
    const PreparedRun prepared = prepare_run(
        request_, {.data = source_.empty() ? data_.root : source_, .out = dir_ / name, .resume = resume});
    TrainOptions options;
    options.stop = seen.token();
    return train(prepared, options, seen);
  }

  std::string model(const std::string& name) { return base::read_file(dir_ / name / "model.safetensors"); }
  // The logged numbers without the speed.
  std::vector<std::vector<std::pair<std::string, double>>> metrics(const std::string& name) {
    std::vector<std::vector<std::pair<std::string, double>>> list;
    for (const auto& record : runs::MetricsLog(dir_ / name / "metrics.jsonl").read()) {
      list.push_back(record.values);
      std::erase_if(list.back(), [](const auto& value) { return value.first == "images_per_second"; });
    }
    return list;
  }

  support::TempDir dir_;
  dataset::Dataset data_;
  RunRequest request_;
  fs::path source_;  // empty: data_
};

TEST_F(TrainLoopTest, LeavesWhatARunFolderPromises) {
  const TrainResult result = run("run");
  EXPECT_EQ(result.epochs, 4);
  EXPECT_EQ(result.steps, 12);
  EXPECT_FALSE(result.interrupted);
  for (const char* file : {"experiment_spec.txt", "status.json", "metrics.jsonl", "model.safetensors",
                           "best.safetensors", "report.html", "checkpoints", "events"}) {
    EXPECT_TRUE(fs::exists(dir_ / "run" / file)) << file;
  }
  EXPECT_THAT(base::read_file(dir_ / "run/status.json"), HasSubstr("\"SUCCESS\""));
}

TEST_F(TrainLoopTest, TheSameSeedGivesTheSameModel) {
  run("one");
  run("two");
  EXPECT_EQ(model("one"), model("two"));
  request_.seed = 7;
  run("three");
  EXPECT_NE(model("one"), model("three"));
}

// Stopped in the middle of an epoch, at its end and before the first step.
TEST_F(TrainLoopTest, ResumedRunsEqualTheUninterruptedOneBitForBit) {
  for (const char* recipe : {"scratch", "tlt"}) {
    request_.recipe = recipe;
    run(std::string("straight-") + recipe);
    for (const int step : {1, 6, 7, 11}) {
      const std::string name = fmt::format("{}-{}", recipe, step);
      StopAfter stopper(step);
      EXPECT_TRUE(run(name, false, &stopper).interrupted) << name;
      EXPECT_FALSE(fs::exists(dir_ / name / "model.safetensors")) << name;
      EXPECT_EQ(run(name, true).steps, 12) << name;
      EXPECT_EQ(model(name), model(std::string("straight-") + recipe)) << name;
      EXPECT_EQ(metrics(name), metrics(std::string("straight-") + recipe)) << name;
    }
  }
}

// Beginning again without a word would throw the run away that somebody wants to go on with.
TEST_F(TrainLoopTest, WhereNoCheckpointIsWholeTheRunIsNotBegunAgain) {
  StopAfter stopper(5);
  run("torn", false, &stopper);
  const runs::CheckpointStore store(dir_ / "torn/checkpoints");
  for (const std::int64_t step : store.steps()) base::write_file(store.path(step), "torn");
  try {
    run("torn", true);
    FAIL() << "began again";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.hint(), HasSubstr("--force"));
  }
}

TEST_F(TrainLoopTest, FewerEpochsThanAreTrainedAreRefused) {
  StopAfter stopper(9);
  run("run", false, &stopper);
  request_.epochs = 1;
  try {
    run("run", true);
    FAIL() << "took a run of 3 epochs for one of 1";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("9 steps are trained already"));
  }
}

TEST_F(TrainLoopTest, TornNewestCheckpointFallsBackToThePreviousOne) {
  run("straight");
  StopAfter stopper(9);
  run("torn", false, &stopper);
  const runs::CheckpointStore store(dir_ / "torn/checkpoints");
  const std::vector<std::int64_t> steps = store.steps();
  ASSERT_GE(steps.size(), 2u);
  const std::string bytes = base::read_file(store.path(steps.back()));
  base::write_file(store.path(steps.back()), bytes.substr(0, bytes.size() / 2));
  StopAfter observer;
  run("torn", true, &observer);
  EXPECT_THAT(observer.notices, testing::Contains(HasSubstr("torn")));
  EXPECT_EQ(model("torn"), model("straight"));
  EXPECT_EQ(metrics("torn"), metrics("straight"));
}

TEST_F(TrainLoopTest, WithoutAnyWholeCheckpointTheRunBeginsAnew) {
  run("straight");
  StopAfter stopper(2);
  run("lost", false, &stopper);
  fs::remove_all(dir_ / "lost/checkpoints");
  StopAfter resumed;
  run("lost", true, &resumed);
  EXPECT_THAT(resumed.notices, testing::Contains(HasSubstr("beginning again")));
  EXPECT_EQ(model("lost"), model("straight"));
  EXPECT_EQ(metrics("lost"), metrics("straight"));
}

TEST_F(TrainLoopTest, AFinishedRunIsNotTrainedFurther) {
  run("run");
  const std::string before = model("run");
  EXPECT_EQ(run("run", true).steps, 12);
  EXPECT_EQ(model("run"), before);
}

TEST_F(TrainLoopTest, OtherDataIsNotResumedWith) {
  StopAfter stopper(4);
  run("run", false, &stopper);
  data_.samples[0].boxes.clear();
  dataset::write_dataset(data_, {}, "changed");
  try {
    run("run", true);
    FAIL() << "resumed with a changed dataset";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("dataset"));
  }
}

TEST_F(TrainLoopTest, ALostLossEndsTheRunAndNamesThePictures) {
  request_.recipe = "tlt";
  request_.assignments.push_back(
      "training_config.learning_rate={soft_start_annealing_schedule {min_learning_rate: 1e18 "
      "max_learning_rate: 1e20 "
      "soft_start: 0.1 annealing: 0.7}}");
  StopAfter observer;
  try {
    run("run", false, &observer);
    FAIL() << "trained on with an infinite loss";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kFailed);
    EXPECT_THAT(error.what(), HasSubstr("not finite"));
    EXPECT_THAT(error.what(), HasSubstr(data_.samples[0].id.substr(0, 3)));
  }
  EXPECT_THAT(observer.notices, testing::Contains(HasSubstr("left out")));
  EXPECT_THAT(base::read_file(dir_ / "run/status.json"), HasSubstr("\"FAILURE\""));
  EXPECT_FALSE(fs::exists(dir_ / "run/model.safetensors"));
}

// The same pictures and labels as a dataset, a KITTI folder and TFRecords.
TEST_F(TrainLoopTest, EverySourceOfTheSameDataTrainsTheSame) {
  request_.recipe = "tlt";
  request_.epochs = 1;
  run("dataset");
  for (const dataset::Sample& sample : data_.samples) {
    const fs::path folder = dir_ / "kitti" / sample.split;
    fs::create_directories(folder / "images");
    fs::copy_file(data_.image_path(sample), folder / "images" / fs::path(sample.image).filename());
    std::string text;
    for (const dataset::LabeledBox& box : sample.boxes) {
      formats::KittiLabel label;
      label.class_name = box.class_name;
      label.box_in_image = box.box_in_image;
      text += formats::print_kitti(label) + "\n";
    }
    base::write_file(folder / "labels" / fs::path(sample.image).filename().replace_extension(".txt"), text);
  }
  source_ = dir_ / "kitti";
  run("of-kitti");
  const dataset::TfrecordExport records =
      dataset::export_tfrecords(data_, {.prefix = (dir_ / "records/r").string(), .num_shards = 2});
  source_ = (dir_ / "records/r*").string() + "@" + records.image_directory.string();
  run("of-records");
  EXPECT_EQ(metrics("of-kitti"), metrics("dataset"));
  EXPECT_EQ(metrics("of-records"), metrics("dataset"));
}

// The training part once more as validation part: what can be learnt by heart is found again.
dataset::Dataset by_heart(const dataset::Dataset& data, const fs::path& folder) {
  dataset::Dataset twice;
  twice.root = folder;
  twice.class_names = data.class_names;
  for (dataset::Sample sample : data.samples) {
    sample.image = fs::absolute(data.image_path(sample));
    sample.split = "train";
    twice.samples.push_back(sample);
    sample.id += "-again";
    sample.split = "val";
    twice.samples.push_back(sample);
  }
  dataset::normalise(twice);
  dataset::write_dataset(twice, {}, "test");
  return twice;
}

// README promises a best model; where it cannot be made, that is said at once.
TEST_F(TrainLoopTest, DataWithoutValidationPicturesIsWarnedOf) {
  dataset::Dataset no_val = data_;
  no_val.root = dir_ / "no-val";
  for (dataset::Sample& sample : no_val.samples) {
    sample.image = fs::absolute(data_.image_path(sample));
    sample.split = "train";
  }
  dataset::write_dataset(no_val, {}, "test");
  source_ = no_val.root;
  request_.epochs = 1;
  StopAfter seen;
  run("run", false, &seen);
  EXPECT_THAT(seen.notices, testing::Contains(HasSubstr("no best.safetensors")));
  EXPECT_FALSE(fs::exists(dir_ / "run/best.safetensors"));
  EXPECT_TRUE(fs::exists(dir_ / "run/model.safetensors"));
}

// One batch of eight pictures without augmentation, over and over.
RunRequest overfitting(int epochs, const std::string& size) {
  RunRequest request;
  request.recipe = "scratch";
  request.backbone = "resnet10";
  request.size = size;
  request.batch = 8;
  request.epochs = epochs;
  request.assignments = {
      "model_config.width_multiplier=0.25",
      "augmentation_config.mosaic_probability=0",
      "augmentation_config.spatial_augmentation={hflip_probability: 0 rotate_rad_max: 0 aspect_jitter: 0 "
      "placement {scale_min: 1 scale_max: 1 mosaic_scale_min: 1 mosaic_scale_max: 1}}",
      "augmentation_config.color_augmentation={color_shift_stddev: 0 hue_rotation_max: 0 "
      "saturation_shift_max: 0 "
      "contrast_scale_max: 0 grayscale_probability: 0}",
      "training_config.optimizer.adamw.weight_decay=0",
      "training_config.ema_decay=0.9",
      "training_config.learning_rate.warmup_cosine_schedule.max_learning_rate=2e-3",
      "training_config.learning_rate.warmup_cosine_schedule.warmup_epochs=10",
      "training_config.checkpoint_interval=1000",
      "evaluation_config.first_validation_epoch=1000"};
  return request;
}

double overfit(const dataset::Dataset& data, const fs::path& folder, const RunRequest& request) {
  by_heart(data, folder / "twice");
  Observer nobody;
  return train(prepare_run(request, {.data = folder / "twice", .out = folder / "run"}), {}, nobody).last_map;
}

TEST(Overfitting, EightDrawnPicturesReachAnApOfOne) {
  support::TempDir dir;
  dataset::SyntheticOptions drawn;
  drawn.pictures = 8;
  drawn.size = {160, 96};
  drawn.min_face_height = 24;
  drawn.max_face_height = 60;
  drawn.val_percent = 0;
  EXPECT_EQ(overfit(dataset::write_synthetic(drawn, dir / "data"), dir.path(), overfitting(160, "160x96")),
            1.0);
}

TEST(Overfitting, EightRealPicturesReachAnApOfOne) {
  const fs::path shared = support::shared_data();
  if (shared.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  support::TempDir dir;
  dataset::Dataset all = dataset::open_data(shared / "masks640");
  // The eight whose smallest face is largest: what a stride of 16 can be asked to learn by heart in seconds.
  const auto smallest_face = [](const dataset::Sample& sample) {
    float smallest = sample.boxes.empty() ? 0 : 1;
    for (const auto& box : sample.boxes) {
      smallest = std::min(
          smallest, box.box_in_image.height() / static_cast<float>(std::max(sample.width, sample.height)));
    }
    return smallest;
  };
  std::stable_sort(all.samples.begin(), all.samples.end(),
                   [&](const auto& a, const auto& b) { return smallest_face(a) > smallest_face(b); });
  all.samples.resize(8);
  EXPECT_EQ(overfit(all, dir.path(), overfitting(120, "192x192")), 1.0);
}

}  // namespace
}  // namespace maskfit::train
