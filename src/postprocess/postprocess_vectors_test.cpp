// Decoding, clustering and suppression against the reference's unit tests and derived cases.

#include <gtest/gtest.h>

#include <cmath>

#include "postprocess/dbscan.h"
#include "postprocess/decode.h"
#include "postprocess/mean_angle.h"
#include "postprocess/nms.h"
#include "postprocess/nvinfer.h"
#include "postprocess/postprocess.h"
#include "tests/support/vectors.h"

namespace maskfit::postprocess {
namespace {

using nlohmann::json;
using support::number;
using support::vector_group;

boxes::Box box_from(const json& value) {
  return {value[0].get<float>(), value[1].get<float>(), value[2].get<float>(), value[3].get<float>()};
}

void expect_box(const boxes::Box& box, const json& expected, double tolerance) {
  const float actual[4] = {box.x1, box.y1, box.x2, box.y2};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(actual[k], number(expected[k]), tolerance) << "coordinate " << k;
}

Candidates candidates_from(const json& input) {
  Candidates candidates;
  for (const json& box : input["bboxes"]) candidates.boxes_in_network.push_back(box_from(box));
  candidates.coverage = input["cov"].get<std::vector<float>>();
  return candidates;
}

Candidates above(const Candidates& all, float threshold) {
  Candidates kept;
  for (std::size_t i = 0; i < all.coverage.size(); ++i) {
    if (!(all.coverage[i] > threshold)) continue;
    kept.boxes_in_network.push_back(all.boxes_in_network[i]);
    kept.coverage.push_back(all.coverage[i]);
  }
  return kept;
}

// "all ones [4,6,5]" or the numbers.
std::vector<float> ltrb_from(const json& value, std::size_t cells) {
  if (value.is_string()) return std::vector<float>(4 * cells, 1.0f);
  std::vector<float> flat;
  for (const json& side : value) {
    for (const json& row : side) {
      for (const json& cell : row) flat.push_back(cell.get<float>());
    }
  }
  return flat;
}

TEST(PostprocessVectors, DecodesEveryCell) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("bbox_decode")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const boxes::GridGeometry geometry = {input["input_width"].get<int>(), input["input_height"].get<int>(),
                                          input["output_width"].get<int>(),
                                          input["output_height"].get<int>()};
    const std::size_t cells = static_cast<std::size_t>(geometry.cells());
    const std::vector<float> ltrb = ltrb_from(input["ltrb"], cells);
    const std::vector<float> coverage(cells, 1.0f);
    Options options;
    options.scale = input["scale"].get<float>();
    options.offset = input["offset"].get<float>();
    const Candidates decoded = decode({geometry, 1, coverage, ltrb}, 0, 0.5f, options);
    ASSERT_EQ(decoded.coverage.size(), cells);
    const json& absolute = vector["expected"]["absolute"];
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t row = cell / geometry.grid_width, column = cell % geometry.grid_width;
      const json wanted = {absolute[0][row][column], absolute[1][row][column], absolute[2][row][column],
                           absolute[3][row][column]};
      expect_box(decoded.boxes_in_network[cell], wanted, vector["tolerance"].get<double>());
    }
  }
}

// Cells [low, high) x [low, high) with a value, on the vectors' square grid.
Candidates painted(const json& input) {
  const int side = input["grid"][0].get<int>();
  Candidates all;
  all.boxes_in_network.resize(side * side);
  all.coverage.resize(side * side);
  const auto paint = [&](const json& region, auto set) {
    const int low = region["rows_cols"][0].get<int>(), high = region["rows_cols"][1].get<int>();
    for (int row = low; row < high; ++row) {
      for (int column = low; column < high; ++column) set(row * side + column);
    }
  };
  for (const json& region : input["bbox_regions"]) {
    paint(region, [&](int cell) { all.boxes_in_network[cell] = box_from(region["ltrb_abs"]); });
  }
  for (const json& region : input["cov_regions"]) {
    paint(region, [&](int cell) { all.coverage[cell] = region["value"].get<float>(); });
  }
  return all;
}

ClassClustering clustering_from(const json& input) {
  ClassClustering clustering;
  clustering.coverage_threshold = input["coverage_threshold"].get<float>();
  clustering.eps = input["dbscan_eps"].get<float>();
  clustering.minimum_height = input["minimum_bounding_box_height"].get<float>();
  clustering.cluster_threshold = input.value("dbscan_confidence_threshold", 0.0f);
  return clustering;
}

TEST(PostprocessVectors, DbscanOfTheEvaluationPath) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("dbscan_eval")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const ClassClustering clustering = clustering_from(vector["input"]["clustering"]);
    const Candidates candidates = above(painted(vector["input"]), clustering.coverage_threshold);
    const boxes::Detections detections = cluster(candidates, 0, clustering, {});
    const json& expected = vector["expected"]["detections"];
    ASSERT_EQ(detections.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect_box(detections[i].box, expected[i]["bbox"], vector["tolerance"].get<double>());
      EXPECT_NEAR(detections[i].confidence, expected[i]["confidence"].get<double>(), 1e-5);
    }
    const std::vector<Cluster> clusters = summarise(
        candidates, dbscan(candidates.boxes_in_network, candidates.coverage, {clustering.eps, 1e-5, 1}));
    for (const json& derived : vector["expected"]["derived"]) {
      // The derived figures went through the network's float32 coding first; hence 2e-5 and not 1e-5.
      const auto same = std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& c) {
        return std::abs(c.box.x2 - derived["bbox"][2].get<double>()) < 2e-5;
      });
      ASSERT_NE(same, clusters.end());
      EXPECT_EQ(same->members.size(), derived["num_raw"].get<std::size_t>());
      EXPECT_NEAR(same->mean_coverage, derived["mean_cov"].get<double>(), 1e-5);
      EXPECT_NEAR(same->spread, derived["bbox_variance"].get<double>(), 1e-5);
    }
  }
}

void expect_detections(const boxes::Detections& detections, const json& expected, double tolerance) {
  ASSERT_EQ(detections.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expect_box(detections[i].box, expected[i]["bbox"], tolerance);
    EXPECT_NEAR(detections[i].confidence, expected[i]["confidence"].get<double>(), tolerance);
  }
}

// float32 boxes around 100 px: one unit in the last place is 8e-6.
constexpr double kFloat32Tolerance = 2e-5;

TEST(PostprocessVectors, DbscanOfBothPathsAndBothConfidenceModels) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("dbscan")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const json& expected = vector["expected"];
    ClassClustering clustering = clustering_from(input["clustering"]);
    const Candidates candidates = above(candidates_from(input), clustering.coverage_threshold);

    const std::vector<int> labels =
        dbscan(candidates.boxes_in_network, candidates.coverage, {clustering.eps, 1e-5, 1});
    EXPECT_EQ(labels, expected["labels_after_cov_threshold"].get<std::vector<int>>());

    clustering.cluster_threshold = input["eval_dbscan_threshold"].get<float>();
    expect_detections(cluster(candidates, 0, clustering, {}), expected["eval_path"], kFloat32Tolerance);

    Options inference;
    inference.path = Path::kInference;
    clustering.cluster_threshold = input["infer_threshold"].get<float>();
    expect_detections(cluster(candidates, 0, clustering, inference), expected["inference_aggregate_cov"],
                      kFloat32Tolerance);
    clustering.cluster_threshold = input["infer_mean_cov_threshold"].get<float>();
    clustering.confidence = ConfidenceModel::kMeanCoverage;
    expect_detections(cluster(candidates, 0, clustering, inference), expected["inference_mean_cov"],
                      kFloat32Tolerance);
  }
}

// The three forms of input that the group has.
Candidates nms_candidates(const json& input) {
  if (input.contains("bboxes")) return candidates_from(input);
  Candidates candidates;
  if (input.contains("bboxes_cov")) {
    for (const json& row : input["bboxes_cov"]) {
      candidates.boxes_in_network.push_back(box_from(row));
      candidates.coverage.push_back(row[4].get<float>());
    }
    return candidates;
  }
  const std::vector<float> flat = support::float32_blob(input["bbox_f32_zlib_base64"].get<std::string>());
  for (std::size_t i = 0; i + 3 < flat.size(); i += 4) {
    candidates.boxes_in_network.push_back({flat[i], flat[i + 1], flat[i + 2], flat[i + 3]});
  }
  candidates.coverage = support::float32_blob(input["cov_f32_zlib_base64"].get<std::string>());
  EXPECT_EQ(candidates.coverage.size(), input["rows"].get<std::size_t>());
  return candidates;
}

TEST(PostprocessVectors, NmsKeepsTheSameBoxesInTheSameOrder) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("nms")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const json& expected = vector["expected"];
    const Candidates candidates = nms_candidates(input);
    const std::vector<Kept> kept =
        nms(candidates.boxes_in_network, candidates.coverage, input["nms_iou_threshold"].get<float>(),
            input["confidence_threshold"].get<float>());
    std::vector<int> indices;
    for (const Kept& one : kept) indices.push_back(one.index);
    const char* key = expected.contains("kept_indices") ? "kept_indices" : "kept_indices_derived";
    EXPECT_EQ(indices, expected[key].get<std::vector<int>>());
    if (expected.contains("num")) EXPECT_EQ(kept.size(), expected["num"].get<std::size_t>());
    if (!expected.contains("true_scores")) continue;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_NEAR(kept[i].score, expected["true_scores"][i].get<double>(), 1e-6);
      EXPECT_NEAR(kept[i].reference_score, expected["confidence_reported_by_reference"][i].get<double>(),
                  1e-6);
      if (expected.contains("kept_boxes")) {
        expect_box(candidates.boxes_in_network[kept[i].index], expected["kept_boxes"][i], 1e-3);
      }
    }
  }
}

TEST(PostprocessVectors, HybridSuppressesInsideClusters) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("hybrid")) {
    const json& input = vector["input"];
    const json& expected = vector["expected"];
    ClassClustering clustering = clustering_from(input);
    clustering.algorithm = Algorithm::kHybrid;
    clustering.nms_iou = input["nms_iou_threshold"].get<float>();
    clustering.nms_threshold = input["nms_confidence_threshold"].get<float>();
    Options options;
    options.path = Path::kInference;
    const Candidates candidates = above(candidates_from(input), clustering.coverage_threshold);
    const boxes::Detections detections = cluster(candidates, 0, clustering, options);
    ASSERT_EQ(detections.size(), expected["kept"].size());
    for (std::size_t i = 0; i < detections.size(); ++i) {
      expect_box(detections[i].box, expected["kept"][i], 1e-5);
      EXPECT_NEAR(detections[i].confidence, expected["true_scores"][i].get<double>(), 1e-5);
    }
    options.reference_exact = true;
    const boxes::Detections exact = cluster(candidates, 0, clustering, options);
    EXPECT_NEAR(exact.at(0).confidence, expected["confidence_reported_by_reference"][0].get<double>(), 1e-5);
  }
}

TEST(PostprocessVectors, MeanAngle) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("mean_angle")) {
    const json& input = vector["input"];
    std::vector<double> weights;
    if (!input["weights"].is_null()) weights = input["weights"].get<std::vector<double>>();
    EXPECT_NEAR(mean_angle(input["angles"].get<std::vector<double>>(), weights),
                vector["expected"]["angle"].get<double>(), vector["tolerance"].get<double>());
  }
}

TEST(PostprocessVectors, FiltersByConfidence) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("postprocess")) {
    const json& frames = vector["input"]["frames"];
    for (std::size_t f = 0; f < frames.size(); ++f) {
      boxes::Detections detections;
      for (const json& confidence : frames[f]) detections.push_back({{}, 0, confidence.get<float>()});
      const boxes::Detections kept =
          confident(detections, vector["input"]["confidence_threshold"].get<float>());
      ASSERT_EQ(kept.size(), vector["expected"]["kept"][f].size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_NEAR(kept[i].confidence, vector["expected"]["kept"][f][i].get<double>(), 1e-5);
      }
    }
  }
}

TEST(PostprocessVectors, NvinferDecode) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("nvinfer_decode")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& in = vector["input"];
    const boxes::GridGeometry geometry{in["net_w"], in["net_h"], in["grid_w"], in["grid_h"]};
    const auto sides = in["ltrb_raw"].get<std::array<float, 4>>();
    boxes::Box box;
    ASSERT_TRUE(nvinfer_box(geometry, in["grid_x"], in["grid_y"], sides.data(), &box));
    const auto expected = vector["expected"]["left_top_width_height"].get<std::array<double, 4>>();
    const double tolerance = vector["abs_tol"];
    EXPECT_NEAR(box.x1, expected[0], tolerance);
    EXPECT_NEAR(box.y1, expected[1], tolerance);
    EXPECT_NEAR(box.width(), expected[2], tolerance);
    EXPECT_NEAR(box.height(), expected[3], tolerance);
  }
}

}  // namespace
}  // namespace maskfit::postprocess
