#include "targets/loss_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::targets {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr boxes::GridGeometry kGeometry = {64, 16, 4, 1};  // four cells in a row, 16 pixels each
const std::vector<std::string> kNames = {"mask", "no-mask"};

MaskLabel label(float x1, float x2, const std::string& source, const std::string& target) {
  return {{x1, 0, x2, 16}, source, target};
}

std::vector<float> plane(const std::vector<float>& planes, int class_index) {
  return {planes.begin() + class_index * 4, planes.begin() + (class_index + 1) * 4};
}

spec::LabelFilter* add_filter(spec::ObjectiveLabelFilter& filter, const std::string& class_name = "",
                              const std::string& objective = "") {
  auto* config = filter.add_objective_label_filter_configs();
  if (!class_name.empty()) config->add_target_class_names(class_name);
  if (!objective.empty()) config->add_objective_names(objective);
  return config->mutable_label_filter();
}

LossMasks masks_of(const std::vector<MaskLabel>& labels, const spec::ObjectiveLabelFilter& filter,
                   const MaskOptions& options = {}) {
  const std::vector<float> coverage(8, 0.0f);
  return loss_masks(labels, filter, kNames, kGeometry, coverage, options);
}

TEST(LossMask, NoFilterMeansNoMask) {
  const LossMasks masks = masks_of({label(0, 64, "face", "mask")}, {});
  EXPECT_THAT(masks.coverage, Each(1));
  EXPECT_THAT(masks.box, Each(1));
}

TEST(LossMask, SmallBoxesOfTheClassAreMasked) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter, "mask")->mutable_bbox_dimensions_label_filter()->set_max_width(16);
  const LossMasks masks =
      masks_of({label(16, 32, "m", "mask"), label(32, 64, "m", "mask"), label(0, 8, "n", "no-mask")}, filter);
  EXPECT_THAT(plane(masks.coverage, 0), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(plane(masks.coverage, 1), Each(1)) << "no filter for this class";
}

TEST(LossMask, ObjectiveNamesChooseThePlane) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter, "", "bbox")->mutable_bbox_dimensions_label_filter()->set_max_width(16);
  filter.set_mask_multiplier(0.25f);
  const LossMasks masks = masks_of({label(16, 32, "m", "mask")}, filter);
  EXPECT_THAT(masks.coverage, Each(1));
  EXPECT_THAT(plane(masks.box, 0), ElementsAre(1, 0.25f, 1, 1));
  EXPECT_THAT(plane(masks.box, 1), Each(1)) << "the label is not of this class";
}

TEST(LossMask, SourceClassFilterReadsTheLabelFilesName) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter)->mutable_source_class_label_filter()->add_source_class_names("blurry");
  const std::vector<MaskLabel> labels = {label(16, 32, "blurry", "mask")};
  EXPECT_THAT(plane(masks_of(labels, filter).coverage, 0), ElementsAre(1, 0, 1, 1));
  // The reference only sees the mapped name, so the filter finds nothing.
  EXPECT_THAT(masks_of(labels, filter, {{{"blurry", "mask"}}, true}).coverage, Each(1));
}

TEST(LossMask, ReferenceFindsOnlyLabelsThatMapToThemselves) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter, "mask")->mutable_bbox_dimensions_label_filter()->set_max_width(16);
  const std::vector<MaskLabel> labels = {label(16, 32, "face", "mask")};
  EXPECT_THAT(masks_of(labels, filter, {{{"face", "mask"}}, true}).coverage, Each(1));
  EXPECT_THAT(plane(masks_of(labels, filter, {{{"face", "mask"}, {"mask", "mask"}}, true}).coverage, 0),
              ElementsAre(1, 0, 1, 1));
}

TEST(LossMask, CropFilterWithAZeroSideSelectsEverythingOnlyInTheReference) {
  spec::ObjectiveLabelFilter filter;
  auto* crop = add_filter(filter, "mask")->mutable_bbox_crop_label_filter();
  crop->set_crop_left(0);
  crop->set_crop_right(20);
  crop->set_crop_bottom(16);
  const std::vector<MaskLabel> labels = {label(0, 16, "mask", "mask"), label(48, 64, "mask", "mask")};
  EXPECT_THAT(plane(masks_of(labels, filter).coverage, 0), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(plane(masks_of(labels, filter, {{{"mask", "mask"}}, true}).coverage, 0),
              ElementsAre(0, 1, 1, 0));
}

TEST(LossMask, PreservedGroundTruthStaysInTheLoss) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter, "mask")->mutable_bbox_dimensions_label_filter()->set_min_width(1);
  filter.set_preserve_ground_truth(true);
  const std::vector<MaskLabel> labels = {label(0, 64, "m", "mask")};
  const std::vector<float> coverage = {0, 0.5f, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(plane(loss_masks(labels, filter, kNames, kGeometry, coverage, {}).coverage, 0),
              ElementsAre(0, 1, 0, 0));
}

TEST(LossMask, UnknownObjectiveIsRefusedWithTheLikelyName) {
  spec::ObjectiveLabelFilter filter;
  add_filter(filter, "mask", "bbx")->mutable_bbox_dimensions_label_filter()->set_min_width(1);
  try {
    masks_of({}, filter);
    FAIL() << "accepted objective bbx";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("bbox"));
  }
  spec::ObjectiveLabelFilter other;
  add_filter(other, "helmet")->mutable_bbox_dimensions_label_filter()->set_min_width(1);
  EXPECT_THROW(masks_of({}, other), base::Error);
}

TEST(LossMask, IgnoredBoxesLeaveTheLossOfEveryClassButKeepTargets) {
  LossMasks masks = all_ones(kGeometry, 2);
  const boxes::Truths truths = {{{16, 0, 48, 16}, -1, true}, {{0, 0, 16, 16}, 0, false}};
  const std::vector<float> coverage = {0, 0, 1, 0, 0, 0, 0, 0};
  mask_ignored(truths, coverage, &masks);
  EXPECT_THAT(plane(masks.coverage, 0), ElementsAre(1, 0, 1, 1)) << "cell 2 holds a target of class 0";
  EXPECT_THAT(plane(masks.coverage, 1), ElementsAre(1, 0, 0, 1));
  EXPECT_EQ(masks.coverage, masks.box);
}

TEST(LossMask, TouchMeansASampleInsideAHalfOpenBox) {
  // Samples of cell 1 are at 1.1 .. 1.9.
  const auto touched = [](float x1, float x2) {
    return touched_cells(std::vector<boxes::Box>{{x1, 0, x2, 1}}, 3, 1)[1] > 0;
  };
  EXPECT_FALSE(touched(0, 1.05f));
  EXPECT_TRUE(touched(0, 1.15f));
  EXPECT_TRUE(touched(1.85f, 3));
  EXPECT_FALSE(touched(1.95f, 3));
  EXPECT_FALSE(touched(1.15f, 1.25f)) << "between two samples";
  EXPECT_FALSE(touched(1.5f, 1.5f));
  EXPECT_FALSE(touched(1.8f, 1.2f)) << "reversed";
}

TEST(LossMask, BoxesBeyondTheGridAreCut) {
  EXPECT_THAT(touched_cells(std::vector<boxes::Box>{{-1e9f, -5, 1e9f, 5}}, 3, 1), Each(1));
  EXPECT_THAT(touched_cells(std::vector<boxes::Box>{{5, 0, 9, 1}}, 3, 1), Each(0));
}

TEST(LossMask, SourceWeightScalesEverythingExceptInTheReferencesBatchOfOne) {
  LossMasks masks = all_ones(kGeometry, 2);
  apply_source_weight(0.5f, 1, {{}, true}, &masks);
  EXPECT_THAT(masks.coverage, Each(1));
  apply_source_weight(0.5f, 2, {{}, true}, &masks);
  EXPECT_THAT(masks.coverage, Each(0.5f));
  apply_source_weight(0.5f, 1, {}, &masks);
  EXPECT_THAT(masks.box, Each(0.25f));
}

}  // namespace
}  // namespace maskfit::targets
