// COCO's figures against pycocotools; tests/golden/evaluate/make_coco_map.py made the file.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "evaluate/evaluate.h"
#include "tests/support/temp_dir.h"

namespace maskfit::evaluate {
namespace {

using nlohmann::json;

boxes::Box box_from(const json& value, int first) {
  return {value[first].get<float>(), value[first + 1].get<float>(), value[first + 2].get<float>(),
          value[first + 3].get<float>()};
}

TEST(CocoGolden, EqualsPycocotools) {
  const json golden =
      json::parse(base::read_file(support::source_dir() / "tests" / "golden" / "evaluate" / "coco_map.json"));
  std::vector<PictureResult> pictures;
  for (const json& entry : golden["pictures"]) {
    PictureResult& picture = pictures.emplace_back();
    picture.id = entry["id"];
    for (const json& truth : entry["truths"]) {
      picture.truths.push_back(
          {box_from(truth["box"], 0), truth["class"].get<int>(), truth["ignore"].get<bool>()});
    }
    for (const json& d : entry["detections"]) {
      picture.detections.push_back({box_from(d, 2), d[0].get<int>(), d[1].get<float>()});
    }
  }
  const Evaluation evaluation = evaluate(pictures, golden["classes"].get<std::vector<std::string>>(), {}, {});
  const json& expected = golden["expected"];
  constexpr double kTolerance = 1e-12;
  EXPECT_NEAR(evaluation.map50, expected["map50"].get<double>(), kTolerance);
  EXPECT_NEAR(evaluation.map75, expected["map75"].get<double>(), kTolerance);
  EXPECT_NEAR(evaluation.map50_95, expected["map50_95"].get<double>(), kTolerance);
  for (std::size_t c = 0; c < evaluation.classes.size(); ++c) {
    EXPECT_NEAR(evaluation.classes[c].ap50, expected["classes"][c]["ap50"].get<double>(), kTolerance);
    EXPECT_NEAR(evaluation.classes[c].ap75, expected["classes"][c]["ap75"].get<double>(), kTolerance);
    EXPECT_NEAR(evaluation.classes[c].ap50_95, expected["classes"][c]["ap50_95"].get<double>(), kTolerance);
  }
}

}  // namespace
}  // namespace maskfit::evaluate
