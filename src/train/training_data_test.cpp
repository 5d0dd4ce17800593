#include "train/training_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temp_dir.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {
using testing::HasSubstr;

// A dataset with four pictures: three to train on, one to validate.
class TrainingDataTest : public testing::Test {
 protected:
  TrainingDataTest() {
    data_.root = dir_ / "data";
    data_.class_names = {"mask", "no-mask"};
    for (int i = 0; i < 4; ++i) {
      dataset::Sample sample;
      sample.id = std::to_string(i);
      sample.image = dir_ / (sample.id + ".png");
      sample.width = sample.height = 32;
      sample.split = i == 3 ? "val" : "train";
      sample.boxes = {{{2, 2, 20, 20}, i % 2 == 0 ? "mask" : "no-mask", false, {}}};
      image::write_image(sample.image, {32, 32, 3, std::vector<std::uint8_t>(3 * 32 * 32, 40)});
      data_.samples.push_back(sample);
    }
  }
  TrainingData open() {
    dataset::write_dataset(data_, {}, "test");
    return open_named_data(data_.root);
  }

  support::TempDir dir_;
  dataset::Dataset data_;
};

TEST_F(TrainingDataTest, PartsAndDigestOfANamedDataset) {
  const TrainingData data = open();
  EXPECT_EQ(data.train.size(), 3u);
  EXPECT_EQ(data.val.size(), 1u);
  EXPECT_EQ(data.sources.size(), 1u);
  EXPECT_EQ(data.sources[0].count, 3);
  EXPECT_EQ(data.digest, dataset::digest(data.datasets[0]));
  EXPECT_THAT(data.label_names(), testing::ElementsAre("mask", "no-mask"));
}

TEST_F(TrainingDataTest, ListsStayValidWhenTheDataIsMoved) {
  TrainingData data = open();
  const TrainingData moved = std::move(data);
  EXPECT_EQ(moved.train[2].sample->id, "2");
}

TEST_F(TrainingDataTest, NothingToTrainOnIsRefused) {
  for (auto& sample : data_.samples) sample.split = "val";
  EXPECT_THROW(open(), base::Error);
}

TEST_F(TrainingDataTest, LabelsThatMapToNothingAreNamed) {
  const TrainingData data = open();
  const spec::Experiment experiment = effective_experiment({}, {"face"}, true);
  try {
    class_mapping(experiment, data.train);
    FAIL() << "accepted data without a single label of the model's class";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.hint(), HasSubstr("mask, no-mask"));
    EXPECT_THAT(error.hint(), HasSubstr("face"));
  }
}

// "The labels are , the classes mask" says nothing: the cause is that there are no boxes.
TEST_F(TrainingDataTest, PicturesWithoutBoxesOrWithIgnoredOnesAreSaidToBeSo) {
  RunRequest request;
  request.size = "64x64";
  const spec::Experiment experiment = effective_experiment(request, {"mask"}, true);
  const auto refusal = [&] {
    try {
      class_mapping(experiment, open().train);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), base::ExitCode::kRefused);
      return std::string(error.what());
    }
    return std::string();
  };
  for (auto& sample : data_.samples) sample.boxes[0].ignore = true;
  EXPECT_EQ(refusal(), "all 3 boxes of the 3 pictures are to be ignored");
  for (auto& sample : data_.samples) sample.boxes.clear();
  EXPECT_EQ(refusal(), "not one of the 3 pictures has a box");
}

TEST_F(TrainingDataTest, MappingComesFromTheSpec) {
  const TrainingData data = open();
  RunRequest request;
  request.assignments = {"dataset_config.target_class_mapping[mask]=face"};
  const loader::ClassMapping mapping =
      class_mapping(effective_experiment(request, {"face"}, true), data.train);
  EXPECT_EQ(mapping.index_of("mask"), 0);
  EXPECT_EQ(mapping.index_of("no-mask"), -1);
  EXPECT_EQ(unmapped_labels(data.train, mapping), (std::map<std::string, std::int64_t>{{"no-mask", 1}}));
}

TEST_F(TrainingDataTest, PictureOptionsFollowTheSpec) {
  RunRequest request;
  request.size = "320x160";
  request.recipe = "tlt";
  spec::Experiment experiment = effective_experiment(request, {"mask"}, true);
  loader::PictureSetOptions options = picture_options(experiment);
  EXPECT_EQ(options.canvas, (image::Size{320, 160}));
  EXPECT_EQ(options.mode, image::CanvasMode::kStretch);
  EXPECT_EQ(options.filter, image::Filter::kBilinearTf1)
      << "the reference's pixels for the reference's recipe";
  experiment.mutable_augmentation_config()->mutable_preprocessing()->set_enable_auto_resize(false);
  EXPECT_EQ(picture_options(experiment).mode, image::CanvasMode::kPad);
}

}  // namespace
}  // namespace maskfit::train
