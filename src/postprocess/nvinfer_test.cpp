#include "postprocess/nvinfer.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace maskfit::postprocess {
namespace {

// One class on a 4 x 4 grid of 16 pixels.
struct Scene {
  boxes::GridGeometry geometry{64, 64, 4, 4};
  std::vector<float> coverage = std::vector<float>(16, 0.0f);
  std::vector<float> box = std::vector<float>(64, 0.0f);

  void put(int cell, float cov, float left, float top, float right, float bottom) {
    coverage[cell] = cov;
    const float sides[] = {left, top, right, bottom};
    for (int s = 0; s < 4; ++s) box[s * 16 + cell] = sides[s];
  }
  boxes::Detections detect(NvinferClusterMode mode, const NvinferClass& options) const {
    return detections_by_nvinfer({geometry, 1, coverage, box}, mode, {&options, 1});
  }
};

TEST(Nvinfer, NmsKeepsTheMostConfidentOfOverlappingBoxes) {
  Scene scene;
  scene.put(5, 0.6f, 0.4f, 0.4f, 0.4f, 0.4f);
  scene.put(6, 0.9f, 0.85f, 0.4f, 0.0f, 0.4f);  // nearly the same box, seen from the next cell
  scene.put(0, 0.3f, 0, 0, 0.2f, 0.2f);
  const auto found = scene.detect(NvinferClusterMode::kNms, {.pre_cluster_threshold = 0.3f});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].confidence, 0.9f);
  EXPECT_EQ(found[1].confidence, 0.3f);  // the threshold itself is enough
  EXPECT_EQ(scene.detect(NvinferClusterMode::kNms, {.pre_cluster_threshold = 0.3f, .topk = 1}).size(), 1u);
  EXPECT_EQ(
      scene.detect(NvinferClusterMode::kNms, {.pre_cluster_threshold = 0.3f, .post_cluster_threshold = 0.3f})
          .size(),
      1u);
}

// The trap of the shipped configurations: without minBoxes every cell becomes an object.
TEST(Nvinfer, DbscanWithoutMinBoxesClustersNothing) {
  Scene scene;
  scene.put(5, 0.6f, 0.4f, 0.4f, 0.4f, 0.4f);
  scene.put(6, 0.9f, 0.85f, 0.4f, 0.0f, 0.4f);
  NvinferClass options{.pre_cluster_threshold = 0.3f, .eps = 0.5f};
  EXPECT_EQ(scene.detect(NvinferClusterMode::kDbscan, options).size(), 2u);
  options.min_boxes = 1;
  const auto found = scene.detect(NvinferClusterMode::kDbscan, options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].confidence, 1.5, 1e-6);  // a sum: above 1
  options.dbscan_min_score = 2;
  EXPECT_TRUE(scene.detect(NvinferClusterMode::kDbscan, options).empty());
}

TEST(Nvinfer, BoxesAreClampedToPixelsAndNumbersMustBeFinite) {
  Scene scene;
  scene.put(0, 0.9f, 9, 9, 9, 9);
  auto found = scene.detect(NvinferClusterMode::kNone, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].box, (boxes::Box{0, 0, 63, 63}));
  scene.put(0, 0.9f, std::numeric_limits<float>::quiet_NaN(), 0, 1, 1);
  EXPECT_TRUE(scene.detect(NvinferClusterMode::kNone, {}).empty());
  scene.put(0, std::numeric_limits<float>::quiet_NaN(), 1, 1, 1, 1);
  EXPECT_TRUE(scene.detect(NvinferClusterMode::kNone, {}).empty());
  scene.put(0, 0.9f, -1, 0, 0.5f, 1);  // left of right edge: turned inside out
  EXPECT_TRUE(scene.detect(NvinferClusterMode::kNone, {}).empty());
}

TEST(Nvinfer, ModesOfClosedCodeAreRefused) {
  EXPECT_THROW(Scene().detect(NvinferClusterMode::kGroupRectangles, {}), base::Error);
  EXPECT_THROW(Scene().detect(NvinferClusterMode::kHybrid, {}), base::Error);
}

}  // namespace
}  // namespace maskfit::postprocess
