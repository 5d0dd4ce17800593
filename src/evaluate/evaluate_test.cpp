#include "evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "evaluate/confusion.h"
#include "evaluate/matching.h"
#include "evaluate/to_json.h"

namespace maskfit::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const std::vector<std::string> kNames = {"mask", "no-mask"};

boxes::Box square(float x, float y, float side) {
  return {x, y, x + side, y + side};
}
boxes::Detection found(const boxes::Box& box, float confidence, int class_index = 0) {
  return {box, class_index, confidence};
}
boxes::Truth truth(const boxes::Box& box, int class_index = 0) {
  return {box, class_index, false};
}
boxes::Truth ignored(const boxes::Box& box) {
  return {box, -1, true};
}

spec::EvaluationConfig at_least(int side) {
  spec::EvaluationConfig config;
  for (const auto& name : kNames) {
    auto& limits = (*config.mutable_evaluation_box_config())[name];
    limits.set_minimum_width(side);
    limits.set_minimum_height(side);
  }
  return config;
}

Evaluation run(const std::vector<PictureResult>& pictures, const spec::EvaluationConfig& config = {},
               bool reference = false) {
  Options options;
  options.reference_matching = reference;
  return evaluate(pictures, kNames, config, options);
}

TEST(Evaluate, NoPicturesIsZeroAndDoesNotDivide) {
  const Evaluation evaluation = run({});
  EXPECT_EQ(evaluation.map, 0);
  EXPECT_EQ(evaluation.map50_95, 0);
  EXPECT_THAT(evaluation.worst, SizeIs(0));
}

TEST(Evaluate, ClassesWithoutTruthsCountOnlyInTheReference) {
  const std::vector<PictureResult> pictures = {
      {"a", {found(square(0, 0, 50), 1)}, {truth(square(0, 0, 50))}}};
  EXPECT_DOUBLE_EQ(run(pictures).map, 1);
  EXPECT_DOUBLE_EQ(run(pictures).map50, 1);
  Options options;
  options.reference_matching = true;
  EXPECT_DOUBLE_EQ(evaluate(pictures, kNames, {}, options).map, 0.5);
}

TEST(Evaluate, SecondDetectionOfOneTruthIsWrong) {
  const Evaluation evaluation =
      run({{"a", {found(square(0, 0, 50), 0.9f), found(square(1, 0, 50), 0.8f)}, {truth(square(0, 0, 50))}}});
  ASSERT_THAT(evaluation.classes[0].curve, SizeIs(2));
  EXPECT_DOUBLE_EQ(evaluation.classes[0].curve[1].precision, 0.5);
}

TEST(Evaluate, ReferenceGivesNoSecondChoice) {
  // The second detection overlaps the taken truth most, and a free one by more than half.
  const std::vector<PictureResult> pictures = {
      {"a",
       {found({0, 0, 100, 100}, 0.9f), found({8, 0, 108, 100}, 0.8f)},
       {truth({0, 0, 100, 100}), truth({30, 0, 130, 100})}}};
  EXPECT_DOUBLE_EQ(run(pictures).classes[0].curve[1].precision, 1) << "COCO takes the free one";
  EXPECT_DOUBLE_EQ(run(pictures, {}, true).classes[0].curve[1].precision, 0.5);
}

TEST(Evaluate, SmallTruthsAreIgnoredByDefaultAndVanishInTheReference) {
  // The detection on the small truth is itself large enough, so the reference punishes it.
  const std::vector<PictureResult> pictures = {
      {"a",
       {found(square(0, 0, 21), 0.9f), found(square(100, 100, 40), 0.8f)},
       {truth(square(0, 0, 19)), truth(square(100, 100, 40))}}};
  const Evaluation good = run(pictures, at_least(20));
  EXPECT_EQ(good.classes[0].truths, 1);
  EXPECT_EQ(good.classes[0].truths_of_any_size, 2);
  EXPECT_DOUBLE_EQ(good.classes[0].ap, 1);
  EXPECT_DOUBLE_EQ(run(pictures, at_least(20), true).classes[0].ap, 0.5);
}

TEST(Evaluate, SmallFalseAlarmsDoNotCountUnderSizeLimits) {
  const std::vector<PictureResult> pictures = {
      {"a",
       {found(square(0, 0, 10), 0.9f), found(square(100, 100, 40), 0.8f)},
       {truth(square(100, 100, 40))}}};
  EXPECT_DOUBLE_EQ(run(pictures, at_least(20)).classes[0].ap, 1);
  EXPECT_DOUBLE_EQ(run(pictures).classes[0].ap, 0.5);
}

TEST(Evaluate, DetectionsInIgnoredTruthsAreNeitherRightNorWrong) {
  const std::vector<PictureResult> pictures = {
      {"a",
       {found(square(0, 0, 10), 0.9f), found(square(20, 20, 10), 0.85f, 1),
        found(square(100, 100, 40), 0.8f)},
       {ignored(square(0, 0, 60)), truth(square(100, 100, 40))}}};
  const Evaluation evaluation = run(pictures);
  EXPECT_DOUBLE_EQ(evaluation.classes[0].ap, 1);
  EXPECT_EQ(evaluation.classes[1].detections, 0) << "the region is ignored for every class";
  EXPECT_EQ(evaluation.worst[0].total(), 0);
}

TEST(Evaluate, AMissedIgnoredTruthIsNotMissed) {
  const Evaluation evaluation = run({{"a", {}, {ignored(square(0, 0, 60))}}});
  EXPECT_EQ(evaluation.classes[0].truths, 0);
  EXPECT_EQ(evaluation.worst[0].missed, 0);
}

TEST(Evaluate, OverlapOfTheSpecDecides) {
  spec::EvaluationConfig config;
  (*config.mutable_minimum_detection_ground_truth_overlap())["mask"] = 0.7f;
  // IoU 60/100.
  const std::vector<PictureResult> pictures = {{"a", {found({0, 0, 10, 6}, 1)}, {truth({0, 0, 10, 10})}}};
  EXPECT_DOUBLE_EQ(run(pictures, config).classes[0].ap, 0);
  EXPECT_DOUBLE_EQ(run(pictures).classes[0].ap, 1);
  EXPECT_DOUBLE_EQ(run(pictures, config).classes[0].ap50, 1) << "COCO's figures have their own overlaps";
}

TEST(Evaluate, CocoFiguresKeepAHundredDetectionsAPicture) {
  PictureResult picture{"a", {}, {truth(square(0, 0, 50))}};
  for (int i = 0; i < 100; ++i) picture.detections.push_back(found(square(500, 500, 20), 0.9f));
  picture.detections.push_back(found(square(0, 0, 50), 0.1f));
  EXPECT_EQ(run({picture}).map50, 0);
  EXPECT_GT(run({picture}).map, 0);
}

TEST(Evaluate, UnknownClassIsOurMistake) {
  EXPECT_THROW(run({{"a", {found(square(0, 0, 9), 1, 2)}, {}}}), base::CheckFailed);
  EXPECT_THROW(run({{"a", {}, {truth(square(0, 0, 9), -1)}}}), base::CheckFailed);
}

TEST(Confusion, CountsRightWrongMissedAndFalse) {
  const std::vector<PictureResult> pictures = {
      {"b",
       {found(square(0, 0, 50), 0.9f, 0), found(square(100, 0, 50), 0.9f, 0)},
       {truth(square(0, 0, 50), 0), truth(square(100, 0, 50), 1)}},
      {"a", {found(square(300, 0, 50), 0.9f, 1)}, {truth(square(0, 0, 50), 1)}},
      {"c", {}, {}}};
  Options options;
  options.confusion_threshold = 0.5f;
  const Evaluation evaluation = evaluate(pictures, kNames, {}, options);
  EXPECT_THAT(evaluation.confusion,
              ElementsAre(ElementsAre(1, 0, 0), ElementsAre(1, 0, 1), ElementsAre(0, 1, 0)));
  ASSERT_THAT(evaluation.worst, SizeIs(3));
  EXPECT_EQ(evaluation.worst[0].id, "a");
  EXPECT_EQ(evaluation.worst[0].index, 1u);
  EXPECT_EQ(evaluation.worst[0].missed, 1);
  EXPECT_EQ(evaluation.worst[0].false_alarms, 1);
  EXPECT_EQ(evaluation.worst[1].wrong_class, 1);
  EXPECT_EQ(evaluation.worst[2].total(), 0);
}

TEST(Confusion, DetectionsBelowTheThresholdAreLeftOut) {
  Options options;
  options.confusion_threshold = 0.5f;
  const Evaluation evaluation =
      evaluate({{"a", {found(square(300, 0, 50), 0.49f)}, {}}}, kNames, {}, options);
  EXPECT_EQ(evaluation.worst[0].total(), 0);
}

TEST(Confusion, ThresholdIsWhereF1IsBest) {
  ClassMatches matches;
  matches.truths = 3;
  matches.detections = {{0.9f, true}, {0.8f, true}, {0.7f, false}, {0.6f, false}, {0.5f, true}};
  EXPECT_FLOAT_EQ(best_f1_threshold(std::vector<ClassMatches>{matches}), 0.8f);
  matches.detections = {{0.9f, true}, {0.9f, false}, {0.9f, false}};
  EXPECT_FLOAT_EQ(best_f1_threshold(std::vector<ClassMatches>{matches}), 0.9f)
      << "equal confidences stay together";
  EXPECT_EQ(best_f1_threshold({}), 0);
}

TEST(Confusion, OperatingPointIsReported) {
  const Evaluation evaluation = run({{"a",
                                      {found(square(0, 0, 50), 0.9f), found(square(300, 0, 50), 0.2f)},
                                      {truth(square(0, 0, 50)), truth(square(100, 100, 50))}}});
  EXPECT_FLOAT_EQ(evaluation.confusion_threshold, 0.9f);
  EXPECT_DOUBLE_EQ(evaluation.classes[0].precision, 1);
  EXPECT_DOUBLE_EQ(evaluation.classes[0].recall, 0.5);
  EXPECT_NEAR(evaluation.classes[0].f1, 2.0 / 3, 1e-12);
}

TEST(ToJson, HasThePromisedKeys) {
  const nlohmann::json json = to_json(
      run({{"a", {found(square(0, 0, 50), 0.9f)}, {truth(square(0, 0, 50)), truth(square(99, 0, 50))}}}));
  for (const char* key : {"format", "pictures", "ap_mode", "matching", "map", "map50", "map75", "map50_95",
                          "confusion_threshold", "confusion", "worst", "classes"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["classes"][0]["name"], "mask");
  EXPECT_DOUBLE_EQ(json["classes"][0]["ap"].get<double>(), 0.5);
  EXPECT_EQ(json["confusion"]["labels"].back(), "nothing");
  EXPECT_EQ(json["worst"][0]["missed"], 1);
}

TEST(ToJson, NumbersThatDoNotExistAreNull) {
  const nlohmann::json json = to_json(run({{"a", {found(square(0, 0, 50), 0.9f)}, {}}}));
  EXPECT_TRUE(json["classes"][0]["curve"][0][2].is_null());
  EXPECT_EQ(json.dump().find("nan"), std::string::npos);
}

TEST(Thinned, KeepsBothEndsAndTheLimit) {
  std::vector<PrPoint> curve;
  for (int i = 0; i < 5000; ++i) curve.push_back({1 - i / 5000.0f, 1 - i / 9000.0, (i + 1) / 5000.0});
  const std::vector<PrPoint> few = thinned(curve, 100);
  EXPECT_LE(few.size(), 100u);
  EXPECT_GE(few.size(), 90u);
  EXPECT_EQ(few.front().recall, curve.front().recall);
  EXPECT_EQ(few.back().recall, curve.back().recall);
  for (std::size_t i = 1; i < few.size(); ++i) EXPECT_LE(few[i].recall - few[i - 1].recall, 0.03);
  EXPECT_THAT(thinned({curve.begin(), curve.begin() + 7}, 100), SizeIs(7));
}

}  // namespace
}  // namespace maskfit::evaluate
