#include "augment/make_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "augment/apply.h"
#include "augment/matrices.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

Options plain(int width = 64, int height = 32) {
  Options options;
  options.output = {width, height};
  return options;
}

PlanRequest draw(std::uint64_t number) {
  return {0, 7, 1, number, 10};
}

bool operator==(const Plan& a, const Plan& b) {
  return a.color == b.color && a.fill == b.fill &&
         std::equal(a.tiles.begin(), a.tiles.end(), b.tiles.begin(), b.tiles.end(),
                    [](const Tile& s, const Tile& t) {
                      return s.sample == t.sample && s.source_from_output == t.source_from_output;
                    });
}

TEST(MakePlan, WithoutOptionsNothingHappens) {
  const Plan plan = make_plan(plain(), draw(3));
  ASSERT_EQ(plan.tiles.size(), 1u);
  EXPECT_EQ(plan.tiles[0].source_from_output, Plan{}.tiles.emplace_back().source_from_output);
  EXPECT_EQ(plan.color, Plan{}.color);
  EXPECT_EQ(plan.tiles[0].output_rect.x2, 64);
  EXPECT_EQ(plan.tiles[0].output_rect.y2, 32);
}

Options everything() {
  Options options = plain();
  options.hflip_probability = options.vflip_probability = 0.5f;
  options.translate_max_x = options.translate_max_y = 8;
  options.zoom_min = 0.5f;
  options.zoom_max = 1.5f;
  options.scale_jitter = options.aspect_jitter = 0.2f;
  options.rotate_max = 0.3f;
  options.brightness_stddev = 0.1f;
  options.hue_max = 20;
  options.saturation_max = 0.2f;
  options.contrast_max = 0.2f;
  options.mosaic_probability = 0.5f;
  return options;
}

TEST(MakePlan, IsAPureFunctionOfSeedEpochAndDraw) {
  const PlanRequest request = draw(5);
  EXPECT_TRUE(make_plan(everything(), request) == make_plan(everything(), request));
  for (int field = 0; field < 3; ++field) {
    PlanRequest other = request;
    (field == 0 ? other.seed : field == 1 ? other.epoch : other.draw) += 1;
    EXPECT_FALSE(make_plan(everything(), request) == make_plan(everything(), other)) << "field " << field;
  }
}

TEST(MakePlan, SwitchingOneOptionOffDoesNotChangeWhatTheOthersDraw) {
  Options with = everything(), without = everything();
  with.mosaic_probability = without.mosaic_probability = 0;
  without.rotate_max = 0;
  without.zoom_min = without.zoom_max = 1;
  without.scale_jitter = without.aspect_jitter = 0;
  without.translate_max_x = without.translate_max_y = 0;
  with.rotate_max = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Matrix3 a = make_plan(with, draw(i)).tiles[0].source_from_output;
    const Matrix3 b = make_plan(without, draw(i)).tiles[0].source_from_output;
    EXPECT_EQ(std::signbit(a[0]), std::signbit(b[0])) << "another flip in draw " << i;
  }
}

TEST(MakePlan, FlipsAsOftenAsAsked) {
  Options options = plain();
  options.hflip_probability = 0.25f;
  int flipped = 0;
  for (std::uint64_t i = 0; i < 2000; ++i)
    flipped += make_plan(options, draw(i)).tiles[0].source_from_output[0] < 0;
  EXPECT_NEAR(flipped, 500, 80);
}

TEST(MakePlan, TranslationsAreWholePixelsUpToTheLimitBothWays) {
  Options options = plain();
  options.translate_max_x = 2.9f;
  std::set<float> seen;
  for (std::uint64_t i = 0; i < 200; ++i)
    seen.insert(make_plan(options, draw(i)).tiles[0].source_from_output[6]);
  EXPECT_EQ(seen, (std::set<float>{-2, -1, 0, 1, 2}));
}

TEST(MakePlan, AShrunkSceneLiesInsideTheOutputAndAnEnlargedOneCoversIt) {
  for (const float ratio : {1.6f, 0.4f}) {
    Options options = plain();
    options.zoom_min = options.zoom_max = ratio;
    float lowest = 1e9f, highest = -1e9f;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Matrix3 m = make_plan(options, draw(i)).tiles[0].source_from_output;
      EXPECT_FLOAT_EQ(m[0], ratio);
      const float left = -m[6] / m[0], right = (64 - m[6]) / m[0];  // where the scene's edges come to lie
      if (ratio > 1) EXPECT_TRUE(left >= 0 && right <= 64.001f) << left << " " << right;
      if (ratio < 1) EXPECT_TRUE(left <= 0 && right >= 63.999f) << left << " " << right;
      lowest = std::min(lowest, left);
      highest = std::max(highest, left);
    }
    EXPECT_NEAR(highest - lowest, std::abs(64 - 64 / ratio), 2) << "not all places are used";
  }
}

TEST(MakePlan, JitterScalesByExponentsAndKeepsTheArea) {
  Options options = plain();
  options.aspect_jitter = 0.4f;
  float widest = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Matrix3 m = make_plan(options, draw(i)).tiles[0].source_from_output;
    EXPECT_NEAR(m[0] * m[4], 1, 1e-5) << "the aspect changed the area";
    widest = std::max(widest, std::log(m[4] / m[0]));
  }
  EXPECT_NEAR(widest, 0.4f, 0.02f);
}

TEST(MakePlan, RotatesWithItsProbabilityUpToTheLimit) {
  Options options = plain();
  options.rotate_max = 0.2f;
  options.rotate_probability = 0.3f;
  int turned = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Matrix3 m = make_plan(options, draw(i)).tiles[0].source_from_output;
    turned += m[1] != 0;
    EXPECT_LE(std::abs(std::asin(m[1])), 0.2001f);
  }
  EXPECT_NEAR(turned, 300, 60);
}

TEST(MakePlan, ColourDrawsStayWithinTheirLimits) {
  Options options = plain();
  options.brightness_stddev = 0.1f;
  options.contrast_max = 0.4f;
  float darkest = 0, largest_contrast = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Matrix4 k = make_plan(options, draw(i)).color;
    darkest = std::min(darkest, k[12]);
    largest_contrast = std::max(largest_contrast, std::abs(k[0] - 1));
    EXPECT_NEAR(k[12], k[13], 1e-6) << "one brightness for all channels";
  }
  EXPECT_GE(darkest, -0.2001f);
  EXPECT_LT(darkest, -0.15f);
  EXPECT_LE(largest_contrast, 0.4001f);
  EXPECT_GT(largest_contrast, 0.3f);
}

TEST(MakePlan, GreyNetworksGetNoColourChange) {
  Options options = everything();
  options.channels = 1;
  options.mosaic_probability = 0;
  EXPECT_EQ(make_plan(options, draw(1)).color, Plan{}.color);
}

TEST(PlanWithoutAugmentation, ScalesThenCrops) {
  Options options = plain(16, 8);
  options.scale_width = 0.5f;
  options.crop = {10, 4, 26, 12};
  const Matrix3 m = plan_without_augmentation(options, 3).tiles[0].source_from_output;
  // Output (0, 0) is pixel (10, 4) of the scaled picture, which is (20, 4) of the canvas.
  EXPECT_FLOAT_EQ(m[0], 2);
  EXPECT_FLOAT_EQ(m[4], 1);
  EXPECT_FLOAT_EQ(m[6], 20);
  EXPECT_FLOAT_EQ(m[7], 4);
}

TEST(MosaicPlan, FourTilesCoverTheOutputWithoutAGap) {
  Options options = everything();
  const image::Image white{64, 32, 1, std::vector<std::uint8_t>(64 * 32, 255)};
  const std::vector<const image::Image*> sources(4, &white);
  std::vector<float> out(64 * 32);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Plan plan = mosaic_plan(options, draw(i));
    ASSERT_EQ(plan.tiles.size(), 4u);
    std::fill(out.begin(), out.end(), -1.0f);
    apply(plan, sources, options.output, out.data());
    // A pixel of fill (0.5) would pull the minimum down; only the outermost half pixel of a source may blend
    // with it.
    EXPECT_GT(*std::min_element(out.begin(), out.end()), 0.74f) << "draw " << i;
  }
}

TEST(MosaicPlan, ShowsTheRequestedPictureFirstAndOthersOfTheList) {
  std::set<std::int64_t> others;
  for (std::uint64_t i = 0; i < 100; ++i) {
    PlanRequest request = draw(i);
    request.sample = 4;
    const Plan plan = mosaic_plan(everything(), request);
    EXPECT_EQ(plan.tiles[0].sample, 4);
    for (std::size_t t = 1; t < 4; ++t) others.insert(plan.tiles[t].sample);
  }
  EXPECT_EQ(others.size(), 10u);
  EXPECT_EQ(*others.rbegin(), 9);
}

TEST(MosaicPlan, IsMadeAsOftenAsAskedAndNeverWithoutAList) {
  int mosaics = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    mosaics += make_plan(everything(), draw(i)).tiles.size() == 4;
    PlanRequest alone = draw(i);
    alone.sample_count = 0;
    EXPECT_EQ(make_plan(everything(), alone).tiles.size(), 1u);
  }
  EXPECT_NEAR(mosaics, 500, 70);
}

Options free_placement() {
  Options options = plain(64, 64);
  options.free_placement = true;
  options.scale_min = 0.5f;
  options.scale_max = 2;
  options.mosaic_scale_min = 0.25f;
  options.mosaic_scale_max = 1.5f;
  return options;
}

// Where a point of the picture comes to lie in the output.
std::array<double, 2> output_from_source(const Tile& tile, double x, double y) {
  const Mat3 m = inverse(to_double(tile.source_from_output));
  return {x * m[0] + y * m[3] + m[6], x * m[1] + y * m[4] + m[7]};
}

TEST(FreePlacement, APictureLiesInsideTheOutputOrCoversItOnEachAxis) {
  PlanRequest request = draw(0);
  request.sample_count = 0;
  request.content_size = [](std::int64_t) { return image::Size{48, 32}; };
  std::set<bool> smaller;
  for (std::uint64_t i = 0; i < 200; ++i) {
    request.draw = i;
    const Tile tile = make_plan(free_placement(), request).tiles.at(0);
    const auto [left, top] = output_from_source(tile, 0, 0);
    const auto [right, bottom] = output_from_source(tile, 48, 32);
    EXPECT_GE((right - left) / 48, 0.499);
    EXPECT_LE((right - left) / 48, 2.001);
    EXPECT_NEAR((right - left) / 48, (bottom - top) / 32, 1e-4);
    const bool inside = left > -1e-3 && right < 64.001, covers = left < 1e-3 && right > 63.999;
    EXPECT_TRUE(inside || covers) << left << " " << right;
    smaller.insert(inside);
  }
  EXPECT_EQ(smaller.size(), 2u) << "both happen";
}

TEST(FreePlacement, MirrorsAndTurnsAboutThePicturesOwnCentre) {
  Options options = free_placement();
  options.scale_min = options.scale_max = 1;
  options.hflip_probability = 1;
  options.rotate_max = 0.3f;
  PlanRequest request = draw(4);
  request.sample_count = 0;
  request.content_size = [](std::int64_t) { return image::Size{64, 64}; };
  const Tile tile = make_plan(options, request).tiles.at(0);
  const auto [x, y] = output_from_source(tile, 32, 32);
  EXPECT_NEAR(x, 32, 1e-3);
  EXPECT_NEAR(y, 32, 1e-3);
  EXPECT_GT(output_from_source(tile, 0, 32)[0], 60) << "the left edge went right";
}

TEST(FreePlacement, AMosaicDrawsEveryPicturesScaleAnew) {
  Options options = free_placement();
  options.mosaic_probability = 1;
  const Plan plan = make_plan(options, draw(2));
  ASSERT_EQ(plan.tiles.size(), 4u);
  std::set<float> scales;
  for (const Tile& tile : plan.tiles) {
    scales.insert(tile.source_from_output[0]);
    EXPECT_GE(tile.source_from_output[0], 1 / 1.5f - 1e-4f);
    EXPECT_LE(tile.source_from_output[0], 4 + 1e-4f);
  }
  EXPECT_EQ(scales.size(), 4u);
}

TEST(MakePlan, GreyMeansEqualChannels) {
  Options options = plain();
  options.grayscale_probability = 1;
  options.hue_max = 30;
  const Matrix4 color = make_plan(options, draw(1)).color;
  for (int row = 0; row < 3; ++row) {
    EXPECT_NEAR(color[row * 4], color[row * 4 + 1], 1e-5);
    EXPECT_NEAR(color[row * 4], color[row * 4 + 2], 1e-5);
  }
}

}  // namespace
}  // namespace maskfit::augment
