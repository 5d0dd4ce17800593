#include <gtest/gtest.h>

#include "targets/loss_mask.h"
#include "tests/support/vectors.h"

namespace maskfit::targets {
namespace {

using nlohmann::json;

TEST(LossMaskVectors, MasksTheReferenceScenes) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("loss_mask")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    std::vector<boxes::Box> boxes_in_grid;
    for (const json& box : input["boxes_grid"]) {
      boxes_in_grid.push_back(
          {box[0].get<float>(), box[1].get<float>(), box[2].get<float>(), box[3].get<float>()});
    }
    const json& expected = vector["expected"]["mask"];
    const int height = static_cast<int>(expected.size()), width = static_cast<int>(expected[0].size());
    std::vector<float> preserve;
    if (input.contains("preserve_ground_truth_cov")) {
      for (const json& row : input["preserve_ground_truth_cov"]) {
        for (const json& value : row) preserve.push_back(value.get<float>());
      }
    }
    const std::vector<float> mask =
        mask_plane(boxes_in_grid, width, height, input["mask_multiplier"].get<float>(), preserve);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        EXPECT_NEAR(mask[y * width + x], expected[y][x].get<float>(), vector["tolerance"].get<float>())
            << "row " << y << " column " << x;
      }
    }
  }
}

}  // namespace
}  // namespace maskfit::targets
