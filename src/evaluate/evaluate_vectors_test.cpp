#include <gtest/gtest.h>

#include "evaluate/average_precision.h"
#include "evaluate/evaluate.h"
#include "evaluate/matching.h"
#include "tests/support/vectors.h"

namespace maskfit::evaluate {
namespace {

using nlohmann::json;

boxes::Box box_from(const json& value) {
  return {value[0].get<float>(), value[1].get<float>(), value[2].get<float>(), value[3].get<float>()};
}

std::vector<PictureResult> pictures_from(const json& input, const std::vector<std::string>& names) {
  std::vector<PictureResult> pictures(input["ground_truth"].size());
  for (std::size_t p = 0; p < pictures.size(); ++p) {
    pictures[p].id = std::to_string(p);
    for (const json& truth : input["ground_truth"][p]) {
      const auto place = std::find(names.begin(), names.end(), truth["cls"].get<std::string>());
      pictures[p].truths.push_back(
          {box_from(truth["bbox"]), static_cast<int>(place - names.begin()), place == names.end()});
    }
    for (std::size_t c = 0; c < names.size(); ++c) {
      const json& of_class = input["detections"][names[c]];
      if (p >= of_class.size()) continue;
      for (const json& detection : of_class[p]) {
        pictures[p].detections.push_back(
            {box_from(detection["bbox"]), static_cast<int>(c), detection["confidence"].get<float>()});
      }
    }
  }
  return pictures;
}

spec::EvaluationConfig config_from(const json& input) {
  spec::EvaluationConfig config;
  for (const auto& [name, overlap] : input["minimum_detection_ground_truth_overlap"].items()) {
    (*config.mutable_minimum_detection_ground_truth_overlap())[name] = overlap.get<float>();
  }
  for (const auto& [name, limits] : input["evaluation_box_config"].items()) {
    auto& entry = (*config.mutable_evaluation_box_config())[name];
    entry.set_minimum_height(limits["minimum_height"].get<int>());
    entry.set_maximum_height(limits["maximum_height"].get<int>());
    entry.set_minimum_width(limits["minimum_width"].get<int>());
    entry.set_maximum_width(limits["maximum_width"].get<int>());
  }
  return config;
}

void expect_class(const ClassResult& result, const json& expected, double tolerance) {
  EXPECT_EQ(result.truths, expected["num_gt"].get<std::int64_t>());
  EXPECT_NEAR(result.ap, expected["ap"].get<double>(), tolerance);
  ASSERT_EQ(result.curve.size(), expected["precision"].size());
  for (std::size_t i = 0; i < result.curve.size(); ++i) {
    EXPECT_NEAR(result.curve[i].precision, expected["precision"][i].get<double>(), tolerance);
    const double recall = support::number(expected["recall"][i]);
    if (std::isnan(recall)) {
      EXPECT_TRUE(std::isnan(result.curve[i].recall));
    } else {
      EXPECT_NEAR(result.curve[i].recall, recall, tolerance);
    }
  }
}

TEST(EvaluateVectors, ReferenceMatchingInBothModes) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("evaluation")) {
    const json& input = vector["input"];
    const auto names = input["classes"].get<std::vector<std::string>>();
    const std::vector<PictureResult> pictures = pictures_from(input, names);
    for (const auto& [key, mode] :
         {std::pair{"SAMPLE", ApMode::kSample}, std::pair{"INTEGRATE", ApMode::kIntegrate}}) {
      SCOPED_TRACE(vector["id"].get<std::string>() + " " + key);
      const json& expected = vector["expected"][key];
      Options options;
      options.mode = mode;
      options.reference_matching = true;
      const Evaluation evaluation = evaluate(pictures, names, config_from(input), options);
      const double tolerance = vector["tolerance"].get<double>();
      EXPECT_NEAR(evaluation.map, expected["mAP"].get<double>(), tolerance);
      for (std::size_t c = 0; c < names.size(); ++c)
        expect_class(evaluation.classes[c], expected[names[c]], tolerance);
    }
  }
}

TEST(EvaluateVectors, ReferenceMatchingFlagsTheSameDetections) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("evaluation")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const json& input = vector["input"];
    const auto names = input["classes"].get<std::vector<std::string>>();
    const std::vector<PictureResult> pictures = pictures_from(input, names);
    const spec::EvaluationConfig config = config_from(input);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const ClassMatches matches =
          match_reference(pictures, static_cast<int>(c), overlap_from_spec(config, names[c]),
                          limits_from_spec(config, names[c]));
      std::vector<int> flags;
      for (const ScoredDetection& detection : matches.detections) flags.push_back(detection.found ? 1 : 0);
      EXPECT_EQ(flags, vector["expected"]["SAMPLE"][names[c]]["true_positive_flags_in_confidence_order"]
                           .get<std::vector<int>>());
    }
  }
}

TEST(EvaluateVectors, AveragePrecisionOfCurves) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("average_precision")) {
    SCOPED_TRACE(vector["id"].get<std::string>());
    const auto precision = vector["input"]["precision"].get<std::vector<double>>();
    const auto recall = vector["input"]["recall"].get<std::vector<double>>();
    const double tolerance = vector["tolerance"].get<double>();
    EXPECT_NEAR(ap_sample(precision, recall), vector["expected"]["SAMPLE"].get<double>(), tolerance);
    EXPECT_NEAR(ap_integrate(precision, recall), vector["expected"]["INTEGRATE"].get<double>(), tolerance);
  }
}

}  // namespace
}  // namespace maskfit::evaluate
