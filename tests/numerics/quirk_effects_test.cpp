// Each test measures one row of the table "Measured" in docs/numerics.md and looks the row up there. When a
// change of the code moves a figure, the failure prints the row to put into the document.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "targets/label_classes.h"
#include "targets/loss_mask.h"
#include "tests/numerics/scene.h"
#include "tests/support/temp_dir.h"

namespace maskfit::numerics {
namespace {

using evaluate::ApMode;

const std::vector<Frame>& scene() {
  static const std::vector<Frame> frames = make_scene(200);
  return frames;
}

evaluate::Evaluation evaluated(const std::vector<evaluate::PictureResult>& pictures, ApMode mode,
                               bool reference) {
  evaluate::Options options;
  options.mode = mode;
  options.reference_matching = reference;
  return evaluate::evaluate(pictures, class_names(), face_mask_evaluation(), options);
}

double map_of(const std::vector<evaluate::PictureResult>& pictures, ApMode mode = ApMode::kAllPoint,
              bool reference = false) {
  return evaluated(pictures, mode, reference).map;
}

void expect_row(const std::string& what, const std::string& by_default, const std::string& exact) {
  const std::string row = fmt::format("| {} | {} | {} |", what, by_default, exact);
  const std::string document = base::read_file(support::source_dir() / "docs" / "numerics.md");
  EXPECT_NE(document.find(row), std::string::npos) << "docs/numerics.md lacks this row:\n" << row;
}

void expect_row(const std::string& what, double by_default, double exact) {
  expect_row(what, fmt::format("{:.3f}", by_default), fmt::format("{:.3f}", exact));
}

std::vector<evaluate::PictureResult> dbscan_pictures() {
  return detect(scene(), face_mask_postprocessing(spec::ClusteringConfig::DBSCAN), false);
}

TEST(QuirkEffects, ModesOfAveragePrecision) {
  const auto pictures = dbscan_pictures();
  const double all_point = map_of(pictures, ApMode::kAllPoint, true);
  expect_row("mAP, INTEGRATE for all-point, 200 pictures", all_point,
             map_of(pictures, ApMode::kIntegrate, true));
  expect_row("mAP, SAMPLE for all-point, 200 pictures", all_point, map_of(pictures, ApMode::kSample, true));
  const std::vector<evaluate::PictureResult> few(pictures.begin(), pictures.begin() + 10);
  expect_row("mAP, INTEGRATE for all-point, 10 pictures", map_of(few, ApMode::kAllPoint, true),
             map_of(few, ApMode::kIntegrate, true));
}

TEST(QuirkEffects, Matching) {
  const auto pictures = dbscan_pictures();
  expect_row("mAP, the reference's matching", map_of(pictures), map_of(pictures, ApMode::kAllPoint, true));
}

spec::PostProcessingConfig with_thresholds(spec::ClusteringConfig::ClusteringAlgorithm algorithm) {
  spec::PostProcessingConfig config = face_mask_postprocessing(algorithm);
  for (auto& [name, entry] : *config.mutable_target_class_config()) {
    entry.mutable_clustering_config()->set_dbscan_confidence_threshold(0.9f);
    entry.mutable_clustering_config()->set_nms_confidence_threshold(0.1f);
  }
  return config;
}

TEST(QuirkEffects, SwappedThresholds) {
  const auto dbscan = with_thresholds(spec::ClusteringConfig::DBSCAN);
  expect_row("mAP with DBSCAN, swapped thresholds (dbscan 0.9, nms 0.1)",
             map_of(detect(scene(), dbscan, false)), map_of(detect(scene(), dbscan, true)));
  const auto nms = with_thresholds(spec::ClusteringConfig::NMS);
  expect_row("mAP with NMS, swapped thresholds (same) and permuted confidences",
             map_of(detect(scene(), nms, false)), map_of(detect(scene(), nms, true)));
}

TEST(QuirkEffects, PermutedNmsConfidences) {
  const spec::PostProcessingConfig config = face_mask_postprocessing(spec::ClusteringConfig::NMS);
  expect_row("mAP with NMS, permuted confidences", map_of(detect(scene(), config, false)),
             map_of(detect(scene(), config, true)));
}

TEST(QuirkEffects, PicturesCountedTwice) {
  // 190 pictures in batches of 24: the last batch is filled up with the first two pictures, 8 * 24 - 190.
  auto pictures = dbscan_pictures();
  pictures.resize(190);
  auto wrapped = pictures;
  wrapped.insert(wrapped.end(), pictures.begin(), pictures.begin() + 8 * 24 - 190);
  expect_row("mAP, wrap-around, 190 pictures, batch 24", map_of(pictures), map_of(wrapped));
  // A batch that is larger than the set.
  pictures.resize(10);
  wrapped = pictures;
  wrapped.insert(wrapped.end(), pictures.begin(), pictures.begin() + 6);
  expect_row("mAP, wrap-around, 10 pictures, batch 16", map_of(pictures), map_of(wrapped));
}

TEST(QuirkEffects, ClassWithoutObjects) {
  auto pictures = dbscan_pictures();
  for (auto& picture : pictures) {
    std::erase_if(picture.truths, [](const boxes::Truth& truth) { return truth.class_index == 1; });
    std::erase_if(picture.detections, [](const boxes::Detection& found) { return found.class_index == 1; });
  }
  expect_row("mAP, one of two classes has no objects", map_of(pictures),
             map_of(pictures, ApMode::kAllPoint, true));
}

TEST(QuirkEffects, MappingAppliedTwice) {
  const targets::ClassMapping mapping = {{"with_mask", "mask"}, {"without_mask", "no-mask"}};
  int drawn = 0, drawn_exact = 0;
  for (const auto& [source, target] : mapping) {
    drawn += targets::drawn_class(source, mapping, class_names(), false) ? 1 : 0;
    drawn_exact += targets::drawn_class(source, mapping, class_names(), true) ? 1 : 0;
  }
  expect_row("classes drawn, mapping {with_mask: mask, without_mask: no-mask}", std::to_string(drawn),
             std::to_string(drawn_exact));
}

// Share of cells of class mask that a crop filter from 0 to the left half takes out of the loss.
double masked_share(bool reference_exact) {
  spec::ObjectiveLabelFilter filter;
  auto* config = filter.add_objective_label_filter_configs();
  config->add_target_class_names("mask");
  config->mutable_label_filter()->mutable_bbox_crop_label_filter()->set_crop_right(320);
  config->mutable_label_filter()->mutable_bbox_crop_label_filter()->set_crop_bottom(640);
  targets::MaskOptions options;
  options.class_mapping = {{"mask", "mask"}, {"no-mask", "no-mask"}};
  options.reference_exact = reference_exact;
  double masked = 0, cells = 0;
  for (const Frame& frame : scene()) {
    std::vector<targets::MaskLabel> labels;
    for (const auto& truth : frame.truths) {
      labels.push_back({truth.box, class_names()[truth.class_index], class_names()[truth.class_index]});
    }
    const targets::LossMasks masks =
        targets::loss_masks(labels, filter, class_names(), geometry(), frame.coverage, options);
    masked += static_cast<double>(std::count(masks.coverage.begin(), masks.coverage.begin() + 1600, 0.0f));
    cells += 1600;
  }
  return masked / cells;
}

TEST(QuirkEffects, CropFilterWithAZeroSide) {
  expect_row("cells out of the loss, crop filter from 0 to 320", masked_share(false), masked_share(true));
}

TEST(QuirkEffects, SourceWeightAtBatchSizeOne) {
  const auto weight_at_one = [](bool reference_exact) {
    targets::LossMasks masks = targets::all_ones(geometry(), 1);
    targets::apply_source_weight(0.5f, 1, {{}, reference_exact}, &masks);
    return masks.coverage[0];
  };
  expect_row("factor of the loss, source_weight 0.5, batch size 1", weight_at_one(false),
             weight_at_one(true));
}

// Not a quirk of the reference but ours: what the scratch recipe's clustering does for the same grids.
TEST(Additions, BoxVotingSharpensBoxes) {
  const spec::PostProcessingConfig nms = face_mask_postprocessing(spec::ClusteringConfig::NMS);
  const auto figures = [](const std::vector<evaluate::PictureResult>& pictures) {
    const evaluate::Evaluation evaluation = evaluated(pictures, ApMode::kAllPoint, false);
    return fmt::format("{:.3f} | {:.3f} | {:.3f}", evaluation.map50, evaluation.map75, evaluation.map50_95);
  };
  const std::string document = base::read_file(support::source_dir() / "docs" / "numerics.md");
  const auto expect_figures = [&](const std::string& name,
                                  const std::vector<evaluate::PictureResult>& pictures) {
    const std::string row = fmt::format("| {} | {} |", name, figures(pictures));
    EXPECT_NE(document.find(row), std::string::npos) << "docs/numerics.md lacks this row:\n" << row;
  };
  expect_figures("DBSCAN", dbscan_pictures());
  expect_figures("NMS", detect(scene(), nms, false));
  expect_figures("NMS with box voting, IoU 0.6", detect_with_votes(scene(), nms, 0.6f));
}

}  // namespace
}  // namespace maskfit::numerics
