#include "postprocess/postprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "postprocess/decode.h"
#include "postprocess/mean_angle.h"

namespace maskfit::postprocess {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr boxes::GridGeometry kGeometry = {64, 48, 4, 3};
const std::vector<std::string> kNames = {"mask", "no-mask"};

// Grids in which chosen cells hold a box.
struct Grids {
  std::vector<float> coverage = std::vector<float>(2 * 12);
  std::vector<float> box = std::vector<float>(2 * 4 * 12);

  void put(int class_index, int column, int row, float cover, const boxes::Box& b) {
    const int cell = row * 4 + column;
    coverage[class_index * 12 + cell] = cover;
    float* sides = box.data() + class_index * 48 + cell;
    const float x = 16.0f * column + 0.5f, y = 16.0f * row + 0.5f;
    sides[0] = (x - b.x1) / 35;
    sides[12] = (y - b.y1) / 35;
    sides[24] = (b.x2 - x) / 35;
    sides[36] = (b.y2 - y) / 35;
  }
  OutputGrids view() const { return {kGeometry, 2, coverage, box}; }
};

spec::ClusteringConfig dbscan_config() {
  spec::ClusteringConfig config;
  config.set_coverage_threshold(0.1f);
  config.set_dbscan_eps(0.3f);
  return config;
}

spec::PostProcessingConfig both_classes(const spec::ClusteringConfig& clustering) {
  spec::PostProcessingConfig config;
  for (const auto& name : kNames) {
    *(*config.mutable_target_class_config())[name].mutable_clustering_config() = clustering;
  }
  return config;
}

TEST(Postprocess, FindsWhatIsInTheGrids) {
  Grids grids;
  grids.put(0, 1, 1, 0.9f, {10, 12, 40, 44});
  grids.put(0, 2, 1, 0.8f, {10, 12, 40, 44});
  grids.put(1, 3, 0, 1.0f, {44, 2, 62, 20});
  const boxes::Detections found =
      detections_from_grids(grids.view(), both_classes(dbscan_config()), kNames, {});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].class_index, 0);
  EXPECT_NEAR(found[0].confidence, 1.7f, 1e-5);
  EXPECT_NEAR(found[0].box.x1, 10, 1e-4);
  EXPECT_NEAR(found[0].box.y2, 44, 1e-4);
  EXPECT_EQ(found[1].class_index, 1);
}

TEST(Postprocess, EachClassIsSortedByConfidence) {
  Grids grids;
  grids.put(0, 0, 0, 1.0f, {0, 0, 14, 14});
  grids.put(0, 3, 2, 1.0f, {40, 30, 62, 46});
  grids.put(0, 2, 2, 1.0f, {40, 30, 62, 46});
  const boxes::Detections found =
      detections_from_grids(grids.view(), both_classes(dbscan_config()), kNames, {});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_GT(found[0].confidence, found[1].confidence);
}

TEST(Postprocess, CoverageAtTheThresholdIsNoCandidate) {
  Grids grids;
  grids.put(0, 0, 0, 0.5f, {0, 0, 14, 14});
  EXPECT_THAT(decode(grids.view(), 0, 0.5f, {}).coverage, SizeIs(0));
  EXPECT_THAT(decode(grids.view(), 0, 0.4999f, {}).coverage, SizeIs(1));
}

TEST(Postprocess, NanCoverageIsNoCandidate) {
  Grids grids;
  grids.put(0, 0, 0, std::numeric_limits<float>::quiet_NaN(), {0, 0, 14, 14});
  EXPECT_THAT(decode(grids.view(), 0, 0.0f, {}).coverage, SizeIs(0));
}

TEST(Postprocess, InferenceClustersBeforeItClips) {
  Grids grids;
  // Both reach the same left edge once clipped, but differ before.
  grids.put(0, 0, 0, 1.0f, {-40, 0, 20, 20});
  grids.put(0, 0, 1, 1.0f, {0, 0, 20, 20});
  Options inference;
  inference.path = Path::kInference;
  EXPECT_THAT(detections_from_grids(grids.view(), both_classes(dbscan_config()), kNames, {}), SizeIs(1));
  const boxes::Detections found =
      detections_from_grids(grids.view(), both_classes(dbscan_config()), kNames, inference);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].box.x1, 0) << "clipped at the end";
}

TEST(Postprocess, InferenceReadsCellsColumnByColumn) {
  Grids grids;
  grids.put(0, 0, 2, 0.5f, {0, 32, 14, 46});
  grids.put(0, 1, 0, 0.6f, {16, 0, 30, 14});
  Options inference;
  inference.path = Path::kInference;
  EXPECT_THAT(decode(grids.view(), 0, 0.1f, inference).coverage, ::testing::ElementsAre(0.5f, 0.6f));
  EXPECT_THAT(decode(grids.view(), 0, 0.1f, {}).coverage, ::testing::ElementsAre(0.6f, 0.5f));
}

TEST(Postprocess, LowClustersAreDroppedAtTheLimit) {
  Grids grids;
  grids.put(0, 1, 1, 1.0f, {10, 12, 40, 32});
  spec::ClusteringConfig config = dbscan_config();
  config.set_minimum_bounding_box_height(20);
  EXPECT_THAT(detections_from_grids(grids.view(), both_classes(config), kNames, {}), SizeIs(0));
  config.set_minimum_bounding_box_height(19);
  EXPECT_THAT(detections_from_grids(grids.view(), both_classes(config), kNames, {}), SizeIs(1));
}

TEST(Postprocess, NmsWithVotesMovesTheBoxAndKeepsTheScore) {
  Grids grids;
  grids.put(0, 1, 1, 0.8f, {10, 12, 40, 44});
  grids.put(0, 2, 1, 0.4f, {13, 12, 43, 44});
  ClassClustering clustering;
  clustering.algorithm = Algorithm::kNms;
  const std::vector<ClassClustering> plain = {clustering, clustering};
  clustering.vote_iou = 0.6f;
  const std::vector<ClassClustering> voting = {clustering, clustering};
  const boxes::Detections best = detections_from_grids(grids.view(), plain, {});
  const boxes::Detections mean = detections_from_grids(grids.view(), voting, {});
  ASSERT_THAT(best, SizeIs(1));
  ASSERT_THAT(mean, SizeIs(1));
  EXPECT_NEAR(best[0].box.x1, 10, 1e-4);
  EXPECT_NEAR(mean[0].box.x1, 11, 1e-4);
  EXPECT_FLOAT_EQ(mean[0].confidence, 0.8f);
}

TEST(Postprocess, WrongGridSizesAreOurMistake) {
  Grids grids;
  grids.coverage.pop_back();
  EXPECT_THROW(decode(grids.view(), 0, 0, {}), base::CheckFailed);
}

TEST(ClusteringSpec, ReferenceSwapsTheThresholdsInEvaluationOnly) {
  spec::ClusteringConfig config = dbscan_config();
  config.set_dbscan_confidence_threshold(0.9f);
  config.set_nms_confidence_threshold(0.2f);
  Options options;
  EXPECT_FLOAT_EQ(clustering_from_spec(both_classes(config), kNames, options)[0].cluster_threshold, 0.9f);
  options.reference_exact = true;
  const ClassClustering exact = clustering_from_spec(both_classes(config), kNames, options)[0];
  EXPECT_FLOAT_EQ(exact.cluster_threshold, 0.2f);
  EXPECT_FLOAT_EQ(exact.nms_threshold, 0.9f);
  options.path = Path::kInference;
  EXPECT_FLOAT_EQ(clustering_from_spec(both_classes(config), kNames, options)[0].cluster_threshold, 0.9f);
}

TEST(ClusteringSpec, UnsetNmsValuesHaveDefaultsInInferenceOnly) {
  Options options;
  EXPECT_EQ(clustering_from_spec(both_classes(dbscan_config()), kNames, options)[0].nms_iou, 0);
  options.path = Path::kInference;
  const ClassClustering inference = clustering_from_spec(both_classes(dbscan_config()), kNames, options)[0];
  EXPECT_FLOAT_EQ(inference.nms_iou, 0.3f);
  EXPECT_FLOAT_EQ(inference.nms_threshold, 0.1f);
  EXPECT_EQ(inference.cluster_threshold, 0) << "unset means 0 for DBSCAN";
}

TEST(ClusteringSpec, VotingIsOffUnlessAsked) {
  spec::ClusteringConfig config = dbscan_config();
  EXPECT_EQ(clustering_from_spec(both_classes(config), kNames, {})[0].vote_iou, 0);
  config.set_nms_vote_iou(0.7f);
  EXPECT_FLOAT_EQ(clustering_from_spec(both_classes(config), kNames, {})[0].vote_iou, 0.7f);
}

TEST(ClusteringSpec, FractionalMinSamplesActAsOne) {
  spec::ClusteringConfig config = dbscan_config();
  config.set_dbscan_min_samples(0.05f);
  EXPECT_EQ(clustering_from_spec(both_classes(config), kNames, {})[0].min_weight, 1);
}

TEST(ClusteringSpec, TheReferenceCannotEvaluateHybrid) {
  spec::ClusteringConfig config = dbscan_config();
  config.set_clustering_algorithm(spec::ClusteringConfig::HYBRID);
  Options options;
  EXPECT_EQ(clustering_from_spec(both_classes(config), kNames, options)[0].algorithm, Algorithm::kHybrid);
  options.reference_exact = true;
  EXPECT_THROW(clustering_from_spec(both_classes(config), kNames, options), base::Error);
}

TEST(ClusteringSpec, MissingClassIsNamed) {
  spec::PostProcessingConfig config = both_classes(dbscan_config());
  config.mutable_target_class_config()->erase("no-mask");
  try {
    clustering_from_spec(config, kNames, {});
    FAIL() << "accepted a missing class";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-mask"));
  }
  *(*config.mutable_target_class_config())["default"].mutable_clustering_config() = dbscan_config();
  EXPECT_THAT(clustering_from_spec(config, kNames, {}), SizeIs(2));
}

TEST(ClusteringSpec, InferenceSpecFallsBackToDefaultAndReadsTlt2Threshold) {
  spec::BboxHandlerConfig config;
  auto& entry = (*config.mutable_classwise_bbox_handler_config())["default"];
  *entry.mutable_clustering_config() = dbscan_config();
  entry.set_confidence_threshold(0.9f);
  entry.set_confidence_model("mean_cov");
  Options options;
  options.path = Path::kInference;
  const auto clustering = clustering_from_spec(config, kNames, options);
  ASSERT_THAT(clustering, SizeIs(2));
  EXPECT_FLOAT_EQ(clustering[1].cluster_threshold, 0.9f);
  EXPECT_EQ(clustering[1].confidence, ConfidenceModel::kMeanCoverage);
  entry.set_confidence_model("mlp");
  EXPECT_THROW(clustering_from_spec(config, kNames, options), base::Error);
}

TEST(ClipInOrder, AReversedBoxBecomesEmptyAtItsLeftEdge) {
  EXPECT_EQ(clip_in_order({30, 50, 20, 60}, 80, 96), (boxes::Box{30, 50, 30, 60}));
  EXPECT_EQ(clip_in_order({-10, -30, 150, 140}, 80, 96), (boxes::Box{0, 0, 80, 96}));
  EXPECT_EQ(clip_in_order({90, 0, 120, 10}, 80, 96), (boxes::Box{80, 0, 80, 10}));
}

TEST(MeanAngle, WrapsAround) {
  EXPECT_NEAR(std::abs(mean_angle(std::vector<double>{3.1, -3.1})), 3.14159265, 1e-6);
  EXPECT_NEAR(mean_angle(std::vector<double>{0, 1}, std::vector<double>{1, 0}), 0, 1e-12);
  EXPECT_THROW(mean_angle(std::vector<double>{0, 1}, std::vector<double>{1}), base::CheckFailed);
}

TEST(Rescale, StretchesEachAxis) {
  const boxes::Detections found = rescale({{{1, 2, 3, 4}, 0, 0.5f}}, 2, 10);
  EXPECT_EQ(found[0].box, (boxes::Box{2, 20, 6, 40}));
}

}  // namespace
}  // namespace maskfit::postprocess
