#include "loader/batch_planner.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "loader/realise.h"
#include "tests/support/temp_dir.h"

namespace maskfit::loader {
namespace {

bool same(const augment::Plan& a, const augment::Plan& b) {
  if (a.tiles.size() != b.tiles.size() || a.color != b.color || a.fill != b.fill) return false;
  for (std::size_t i = 0; i < a.tiles.size(); ++i) {
    if (a.tiles[i].sample != b.tiles[i].sample) return false;
    if (a.tiles[i].source_from_output != b.tiles[i].source_from_output) return false;
  }
  return true;
}

// Seven pictures of 32x32 pixels; picture i is grey level 30 * i and holds one box.
class BatchPlannerTest : public testing::Test {
 protected:
  BatchPlannerTest() {
    for (int i = 0; i < 7; ++i) {
      dataset::Sample sample;
      sample.id = std::to_string(i) + ".png";
      sample.width = sample.height = 32;
      sample.boxes = {{{4, 4, 20, 28}, "mask", false, {}}};
      image::write_image(dir_ / sample.id, {32, 32, 3, std::vector<std::uint8_t>(3 * 32 * 32, 30 * i)});
      samples_.push_back(sample);
    }
    std::vector<LabeledPicture> pictures;
    for (const auto& sample : samples_) pictures.push_back({dir_ / sample.id, &sample});
    set_ = std::make_unique<PictureSet>(pictures, ClassMapping{{"mask"}, {}},
                                        PictureSetOptions{.canvas = {32, 32}});
    options_.batch = 3;
    options_.seed = 11;
    options_.epochs = 10;
    options_.sources = {{0, 5, 1}, {5, 2, 0.5f}};
    options_.augmentation.output = {32, 32};
    options_.augmentation.hflip_probability = 0.5f;
    options_.augmentation.translate_max_x = 4;
  }

  support::TempDir dir_;
  std::vector<dataset::Sample> samples_;
  std::unique_ptr<PictureSet> set_;
  PlannerOptions options_;
};

TEST_F(BatchPlannerTest, APlanIsAPureFunctionOfEpochAndStep) {
  const BatchPlanner one(*set_, options_), two(*set_, options_);
  // Asked in another order, and after other epochs.
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) two.plan(epoch, 2);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t step = one.steps_per_epoch() - 1; step >= 0; --step) {
      const BatchPlan a = one.plan(epoch, step), b = two.plan(epoch, step);
      EXPECT_EQ(a.samples, b.samples);
      EXPECT_EQ(a.truths_in_network, b.truths_in_network);
      for (std::size_t i = 0; i < a.plans.size(); ++i) EXPECT_TRUE(same(a.plans[i], b.plans[i]));
    }
  }
}

TEST_F(BatchPlannerTest, ThreadsGetTheSamePlans) {
  const BatchPlanner planner(*set_, options_);
  const BatchPlan expected = planner.plan(4, 1);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        planner.plan((i + t) % 6, 0);
        EXPECT_EQ(planner.plan(4, 1).samples, expected.samples);
      }
    });
  }
}

TEST_F(BatchPlannerTest, EpochsDifferInOrderAndAugmentation) {
  const BatchPlanner planner(*set_, options_);
  EXPECT_NE(planner.plan(0, 0).truths_in_network, planner.plan(1, 0).truths_in_network);
}

TEST_F(BatchPlannerTest, APictureThatComesTwiceIsChangedTwice) {
  options_.sources = {{0, 1, 1}};
  options_.batch = 8;
  const BatchPlan batch = BatchPlanner(*set_, options_).plan(0, 0);
  std::set<float> shifts;
  for (const augment::Plan& plan : batch.plans) shifts.insert(plan.tiles[0].source_from_output[6]);
  EXPECT_GT(shifts.size(), 1u);
}

TEST_F(BatchPlannerTest, WeightsAreTheSources) {
  const BatchPlan batch = BatchPlanner(*set_, options_).plan(0, 0);
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    EXPECT_EQ(batch.source_weights[i], batch.samples[i] < 5 ? 1.0f : 0.5f);
  }
}

TEST_F(BatchPlannerTest, MosaicsStopBeforeTheEnd) {
  options_.augmentation.mosaic_probability = 1;
  options_.mosaic_off_last_epochs = 2;
  const BatchPlanner planner(*set_, options_);
  EXPECT_EQ(planner.plan(7, 0).plans[0].tiles.size(), 4u);
  EXPECT_EQ(planner.plan(8, 0).plans[0].tiles.size(), 1u);
}

TEST_F(BatchPlannerTest, PixelsAreThosePlanned) {
  options_.augmentation.hflip_probability = 0;
  options_.augmentation.translate_max_x = 0;
  const BatchPlan batch = BatchPlanner(*set_, options_).plan(0, 1);
  const PixelBatch pixels = realise(batch, *set_);
  ASSERT_EQ(pixels.values.size(), 3u * 3 * 32 * 32);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(pixels.values[i * 3 * 32 * 32 + 500], 30 * batch.samples[i] / 255.0f, 1e-6);
    EXPECT_EQ(batch.truths_in_network[i].at(0).box, (boxes::Box{4, 4, 20, 28}));
  }
}

}  // namespace
}  // namespace maskfit::loader
