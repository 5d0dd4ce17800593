#include "targets/rasterise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "targets/label_classes.h"

namespace maskfit::targets {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr boxes::GridGeometry kGeometry = {96, 64, 6, 4};

RasterShapes one_class(float radius = 0.4f) {
  return {0.67f, {{0.5f, 0.5f, radius, radius, 1.0f}}};
}

TEST(Rasterise, EmptyPictureIsAllBackground) {
  const TargetGrids grids = rasterise({}, one_class(), kGeometry, {});
  EXPECT_EQ(grids.coverage.size(), 24u);
  EXPECT_EQ(grids.box.size(), 96u);
  EXPECT_THAT(grids.coverage, Each(0));
  EXPECT_THAT(grids.box, Each(0));
}

TEST(Rasterise, OrderOfTheLabelsDoesNotMatter) {
  const boxes::Truths forward = {
      {{8, 8, 72, 56}, 0, false}, {{40, 4, 92, 40}, 0, false}, {{20, 30, 60, 62}, 0, false}};
  const boxes::Truths backward(forward.rbegin(), forward.rend());
  const TargetGrids a = rasterise(forward, one_class(), kGeometry, {});
  const TargetGrids b = rasterise(backward, one_class(), kGeometry, {});
  EXPECT_EQ(a.coverage, b.coverage);
  EXPECT_EQ(a.box, b.box);
}

TEST(Rasterise, ClassesDoNotEraseEachOther) {
  RasterShapes shapes = one_class();
  shapes.classes.push_back(shapes.classes[0]);
  const boxes::Truth first = {{20, 12, 70, 50}, 0, false};
  boxes::Truth second = first;
  second.class_index = 1;
  const TargetGrids both = rasterise(boxes::Truths{first, second}, shapes, kGeometry, {});
  const TargetGrids alone = rasterise(boxes::Truths{first}, one_class(), kGeometry, {});
  EXPECT_TRUE(std::equal(alone.coverage.begin(), alone.coverage.end(), both.coverage.begin()));
  EXPECT_TRUE(std::equal(alone.coverage.begin(), alone.coverage.end(), both.coverage.begin() + 24));
}

TEST(Rasterise, IgnoredBoxesAreNotDrawnAndTheirClassIsNotRead) {
  const TargetGrids grids =
      rasterise(boxes::Truths{{{20, 12, 70, 50}, -1, true}}, one_class(), kGeometry, {});
  EXPECT_THAT(grids.coverage, Each(0));
}

TEST(Rasterise, BoxesOutsideThePictureAreHarmless) {
  const boxes::Truths truths = {{{-500, -500, -400, -400}, 0, false},
                                {{1e9f, 0, 1e9f + 4096, 4096}, 0, false}};
  EXPECT_THAT(rasterise(truths, one_class(), kGeometry, {}).coverage, Each(0));
}

TEST(Rasterise, UnknownClassIndexIsOurMistake) {
  EXPECT_THROW(rasterise(boxes::Truths{{{20, 12, 70, 50}, 1, false}}, one_class(), kGeometry, {}),
               base::CheckFailed);
  EXPECT_THROW(rasterise(boxes::Truths{{{20, 12, 70, 50}, -1, false}}, one_class(), kGeometry, {}),
               base::CheckFailed);
}

TEST(Rasterise, CodingScaleDividesTheRamps) {
  const boxes::Truths truths = {{{20, 12, 70, 50}, 0, false}};
  const TargetGrids at35 = rasterise(truths, one_class(), kGeometry, {35, 0.5f});
  const TargetGrids at70 = rasterise(truths, one_class(), kGeometry, {70, 0.5f});
  EXPECT_EQ(at35.coverage, at70.coverage);
  for (std::size_t i = 0; i < at35.box.size(); ++i) EXPECT_NEAR(at35.box[i], 2 * at70.box[i], 1e-5);
}

TEST(Rasterise, DrawingOrderIsByClassThenLowerEdgeThenInput) {
  const boxes::Truths truths = {{{0, 0, 1, 9}, 1, false},
                                {{2, 0, 3, 9}, 0, false},
                                {{4, 0, 5, 9}, 0, false},
                                {{6, 0, 7, 2}, 0, false},
                                {{8, 0, 9, 1}, 0, true}};
  std::vector<float> lefts;
  for (const auto& truth : drawing_order(truths)) lefts.push_back(truth.box.x1);
  EXPECT_THAT(lefts, ::testing::ElementsAre(6, 2, 4, 0));
}

TEST(Rasterise, ShapesFromSpecNameTheMissingClass) {
  spec::BboxRasterizerConfig config;
  (*config.mutable_target_class_config())["mask"].set_cov_radius_x(0.4f);
  config.set_deadzone_radius(0.25f);
  const std::vector<std::string> known = {"mask"};
  EXPECT_FLOAT_EQ(shapes_from_spec(config, known).classes[0].radius_x, 0.4f);
  EXPECT_FLOAT_EQ(shapes_from_spec(config, known).deadzone_radius, 0.25f);
  const std::vector<std::string> unknown = {"mask", "no-mask"};
  try {
    shapes_from_spec(config, unknown);
    FAIL() << "accepted a class without an entry";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-mask"));
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  }
}

TEST(DrawnClass, ReferenceMapsTwice) {
  const std::vector<std::string> names = {"car"};
  const ClassMapping once = {{"automobile", "car"}};
  EXPECT_EQ(drawn_class("automobile", once, names, false), 0);
  EXPECT_EQ(drawn_class("automobile", once, names, true), std::nullopt);
  const ClassMapping idempotent = {{"automobile", "car"}, {"car", "car"}};
  EXPECT_EQ(drawn_class("automobile", idempotent, names, true), 0);
}

TEST(DrawnClass, UnmappedClassesAreBackground) {
  const std::vector<std::string> names = {"car"};
  EXPECT_EQ(drawn_class("DontCare", {{"car", "car"}}, names, false), std::nullopt);
  EXPECT_EQ(drawn_class("DontCare", {}, names, false), std::nullopt);
  EXPECT_EQ(drawn_class("car", {}, names, false), 0);
}

TEST(DrawnClass, MappingToAMisspeltTargetIsRefusedWithTheLikelyName) {
  const std::vector<std::string> names = {"mask", "no-mask"};
  try {
    drawn_class("face", {{"face", "no_mask"}}, names, false);
    FAIL() << "accepted an unknown target class";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("no-mask"));
  }
}

}  // namespace
}  // namespace maskfit::targets
