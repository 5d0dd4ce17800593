#include <gtest/gtest.h>

#include "augment/matrices.h"
#include "augment/warp_cuda.h"
#include "base/error.h"

namespace maskfit::augment {
namespace {

Plan plan_of(std::vector<std::int64_t> samples) {
  Plan plan;
  for (const std::int64_t sample : samples)
    plan.tiles.push_back({sample, {1, 2, 0, 3, 4, 0, 5, 6, 1}, {7, 8, 9, 10}});
  return plan;
}

TEST(PackPlans, ItemsPointAtTheirTiles) {
  const std::vector<Plan> plans{plan_of({4}), plan_of({0, 1, 2, 3}), plan_of({9})};
  const WarpBatch batch = pack_plans(plans, 10);
  ASSERT_EQ(batch.items.size(), 3u);
  ASSERT_EQ(batch.tiles.size(), 6u);
  EXPECT_EQ(batch.items[1].first_tile, 1);
  EXPECT_EQ(batch.items[1].tile_count, 4);
  EXPECT_EQ(batch.items[2].first_tile, 5);
  EXPECT_EQ(batch.tiles[5].sample, 9);
}

TEST(PackPlans, MatricesLoseOnlyTheirConstantColumn) {
  Plan plan = plan_of({0});
  plan.color = to_float(multiply(contrast(0.5, 0.5), brightness(0.25)));
  const WarpBatch batch = pack_plans(std::vector<Plan>{plan}, 1);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(batch.tiles[0].source_from_output[i], static_cast<float>(i + 1));
  EXPECT_EQ(batch.tiles[0].x1, 7);
  EXPECT_EQ(batch.tiles[0].y2, 10);
  EXPECT_FLOAT_EQ(batch.items[0].color[0], 1.5f);
  EXPECT_FLOAT_EQ(batch.items[0].color[4], 1.5f);
  EXPECT_FLOAT_EQ(batch.items[0].color[11], 0.0f);
}

TEST(PackPlans, ASampleOutsideTheListOrAPerspectiveMapIsOurMistake) {
  EXPECT_THROW(pack_plans(std::vector<Plan>{plan_of({10})}, 10), base::CheckFailed);
  EXPECT_THROW(pack_plans(std::vector<Plan>{plan_of({-1})}, 10), base::CheckFailed);
  Plan plan = plan_of({0});
  plan.tiles[0].source_from_output[2] = 0.01f;
  EXPECT_THROW(pack_plans(std::vector<Plan>{plan}, 10), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::augment
