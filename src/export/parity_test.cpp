#include "export/parity.h"

#include <gtest/gtest.h>

#include "export/test_bundle.h"

namespace maskfit::exporting {
namespace {

NvinferConfig rules() {
  NvinferConfig config;
  config.class_attributes.resize(1);
  config.class_attributes[0].pre_cluster_threshold = 0.3f;
  return config;
}

Variant found(boxes::Detections detections) {
  Variant variant;
  variant.found = {{"a", std::move(detections), {}}};
  return variant;
}

TEST(Difference, MovesAndConfidencesOfPartners) {
  const Variant a = found({{{0, 0, 10, 10}, 0, 0.9f}, {{50, 50, 80, 80}, 0, 0.5f}});
  const Variant b = found({{{50, 50, 80, 82.5f}, 0, 0.45f}, {{0.5f, 0, 10, 10}, 0, 0.91f}});
  const Difference d = difference(a, b, rules(), {});
  EXPECT_EQ(d.boxes, 2);
  EXPECT_FLOAT_EQ(d.box_px, 2.5);
  EXPECT_NEAR(d.confidence, 0.05, 1e-6);
  EXPECT_EQ(d.lost + d.added + d.at_threshold, 0);
}

TEST(Difference, LostNewAndAtTheThreshold) {
  const Variant a = found({{{0, 0, 10, 10}, 0, 0.9f}, {{20, 0, 30, 10}, 0, 0.305f}});
  const Variant b = found({{{40, 0, 50, 10}, 0, 0.8f}});
  const Difference d = difference(a, b, rules(), {});
  EXPECT_EQ(d.lost, 1);
  EXPECT_EQ(d.added, 1);
  EXPECT_EQ(d.at_threshold, 1);
}

TEST(BestThresholds, TheConfidenceOfTheBestF1) {
  evaluate::Evaluation evaluation;
  evaluation.classes.resize(2);
  evaluation.classes[0].curve = {{0.9f, 1, 0.2}, {0.6f, 0.9, 0.8}, {0.2f, 0.4, 0.9}};
  EXPECT_EQ(best_thresholds(evaluation, 0.33f), (std::vector<float>{0.6f, 0.33f}));
}

TEST(BestF1, MeanOverClassesWithTruths) {
  evaluate::Evaluation evaluation;
  evaluation.classes.resize(3);
  evaluation.classes[0].truths = evaluation.classes[1].truths = 1;
  evaluation.classes[0].curve = {{0.9f, 1, 1}};
  EXPECT_DOUBLE_EQ(best_f1(evaluation), 0.5);
}

TEST(Remembered, AsksOnceAndAnswersInOrder) {
  int asked = 0;
  const Forward counted = [&](const std::vector<std::span<const float>>& batch) {
    std::vector<Grids> grids(batch.size());
    for (Grids& g : grids) g.classes = ++asked;
    return grids;
  };
  const Forward memory = remembered(counted, 3);
  const std::vector<std::span<const float>> two(2), one(1);
  for (int round = 0; round < 3; ++round) {
    const auto first = memory(two), last = memory(one);
    EXPECT_EQ(first[0].classes, 1);
    EXPECT_EQ(first[1].classes, 2);
    EXPECT_EQ(last[0].classes, 3);
  }
  EXPECT_EQ(asked, 3);
}

TEST(NetworkPixels, AreBytesTimesOneOver255ByChannel) {
  const image::Image canvas{2, 1, 3, {0, 51, 255, 102, 153, 204}};
  const std::vector<float> pixels = network_pixels(canvas);
  const float level = 1.0f / 255.0f;
  EXPECT_EQ(pixels, (std::vector<float>{0, 102 * level, 51 * level, 153 * level, 255 * level, 204 * level}));
}

TEST(RunVariant, GivesEveryPictureOnce) {
  const ExportedModel exported = test_model({});
  NvinferConfig config = rules();
  config.mode = postprocess::NvinferClusterMode::kNms;
  config.class_attributes.resize(2);
  const Variant variant =
      run_variant("v", test_trained(exported.model), test_pictures(11), config, {"mask", "no-mask"});
  ASSERT_EQ(variant.found.size(), 11u);
  EXPECT_EQ(variant.found[10].id, "noise-10");
  EXPECT_EQ(variant.evaluation.pictures, 11);
}

TEST(FirstDifference, NoneBetweenEqualNetworks) {
  const Executor executor(test_model({}));
  EXPECT_EQ(first_difference(executor, executor, test_pictures(1), 1e-6).layer, "");
}

}  // namespace
}  // namespace maskfit::exporting
