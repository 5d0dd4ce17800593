#include "augment/options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::augment {
namespace {

spec::AugmentationConfig config() {
  spec::AugmentationConfig config;
  config.mutable_preprocessing()->set_output_image_width(960);
  config.mutable_preprocessing()->set_output_image_height(544);
  config.mutable_preprocessing()->set_output_image_channel(3);
  return config;
}

TEST(OptionsFromSpec, UnsetMeansNoChange) {
  const Options options = options_from_spec(config(), false);
  EXPECT_EQ(options.output, (image::Size{960, 544}));
  EXPECT_EQ(options.zoom_min, 1);
  EXPECT_EQ(options.zoom_max, 1);
  EXPECT_EQ(options.rotate_max, 0);
  EXPECT_EQ(options.labels.outside, Outside::kKeep);
}

TEST(OptionsFromSpec, RotationIsRadiansUnlessTheReferenceIsWanted) {
  spec::AugmentationConfig c = config();
  c.mutable_spatial_augmentation()->set_rotate_rad_max(0.69f);
  EXPECT_FLOAT_EQ(options_from_spec(c, false).rotate_max, 0.69f);
  EXPECT_NEAR(options_from_spec(c, true).rotate_max, 0.69 * 3.14159265 / 180, 1e-6);
}

TEST(OptionsFromSpec, ARotationProbabilityOfZeroMeansAlways) {
  EXPECT_EQ(options_from_spec(config(), false).rotate_probability, 1);
}

TEST(OptionsFromSpec, WhatTheReferenceIgnoresIsUsedByDefault) {
  spec::AugmentationConfig c = config();
  c.mutable_spatial_augmentation()->set_vflip_probability(0.5f);
  c.mutable_preprocessing()->set_min_bbox_width(4);
  EXPECT_EQ(options_from_spec(c, false).vflip_probability, 0.5f);
  EXPECT_EQ(options_from_spec(c, false).labels.min_width, 4);
  EXPECT_EQ(options_from_spec(c, true).vflip_probability, 0);
  EXPECT_EQ(options_from_spec(c, true).labels.min_width, 0);
}

TEST(OptionsFromSpec, AVisibleShareTurnsCuttingOn) {
  spec::AugmentationConfig c = config();
  c.set_min_visible_share(0.25f);
  EXPECT_EQ(options_from_spec(c, false).labels.outside, Outside::kClip);
  EXPECT_EQ(options_from_spec(c, false).labels.min_visible_share, 0.25f);
}

TEST(OptionsFromSpec, ACropOfAnotherSizeThanTheInputIsRefusedByName) {
  spec::AugmentationConfig c = config();
  c.mutable_preprocessing()->set_crop_right(100);
  c.mutable_preprocessing()->set_crop_bottom(544);
  try {
    options_from_spec(c, false);
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_NE(error.where().find("crop_right"), std::string::npos);
  }
}

TEST(OptionsFromSpec, ACropCutsBoxesEitherWay) {
  spec::AugmentationConfig c = config();
  c.mutable_preprocessing()->set_crop_left(16);
  c.mutable_preprocessing()->set_crop_right(976);
  c.mutable_preprocessing()->set_crop_bottom(544);
  EXPECT_EQ(options_from_spec(c, false).labels.outside, Outside::kClip);
  EXPECT_EQ(options_from_spec(c, true).labels.outside, Outside::kReferenceCrop);
}

}  // namespace
}  // namespace maskfit::augment
