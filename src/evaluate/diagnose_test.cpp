#include "evaluate/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::evaluate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kNames = {"mask", "no-mask"};

// A validation that went wrong in one way or other. Class no-mask is always found, so only mask is looked at.
struct Case {
  std::vector<PictureResult> pictures = {{"a",
                                          {{{200, 200, 250, 250}, 1, 0.9f}},
                                          {{{200, 200, 250, 250}, 1, false}, {{10, 10, 60, 60}, 0, false}}}};
  spec::EvaluationConfig config;
  std::map<std::string, std::int64_t> unmapped;
  std::vector<ClassSignal> signals;

  std::vector<std::string> sentences() const {
    const Evaluation evaluation = evaluate(pictures, kNames, config, {});
    return diagnose({pictures, kNames, config, evaluation, {640, 640, 40, 40}, unmapped, signals});
  }
};

TEST(Diagnose, SaysNothingWhenAllIsWell) {
  Case c;
  c.pictures[0].detections.push_back({{10, 10, 60, 60}, 0, 0.9f});
  EXPECT_THAT(c.sentences(), IsEmpty());
}

TEST(Diagnose, NamesTheClassWithoutObjectsAndTheUnmappedLabels) {
  Case c;
  c.pictures[0].truths.pop_back();
  c.unmapped = {{"with_mask", 41}};
  const auto sentences = c.sentences();
  EXPECT_THAT(sentences, Contains(HasSubstr("'mask' has no object")));
  EXPECT_THAT(sentences, Contains(HasSubstr("'with_mask' (41)")));
}

TEST(Diagnose, UnmappedLabelsAreNotBlamedWhenTheClassHasObjects) {
  Case c;
  c.unmapped = {{"DontCare", 41}};
  EXPECT_THAT(c.sentences(), Not(Contains(HasSubstr("DontCare"))));
}

TEST(Diagnose, ObjectsOutsideTheSizeLimits) {
  Case c;
  auto& limits = (*c.config.mutable_evaluation_box_config())["mask"];
  limits.set_minimum_height(100);
  const auto sentences = c.sentences();
  EXPECT_THAT(sentences, Contains(HasSubstr("1 of 1 objects of class 'mask' are outside")));
  EXPECT_THAT(sentences, Contains(HasSubstr("at least 100")));
}

TEST(Diagnose, ObjectsUnderOneCell) {
  Case c;
  c.pictures[0].truths[1].box = {10, 10, 60, 22};
  EXPECT_THAT(c.sentences(), Contains(HasSubstr("smaller than one output cell (16 x 16 px)")));
}

TEST(Diagnose, CoverageThresholdThatCutsEverything) {
  Case c;
  c.signals = {{0.003f, 0.005f, 0, 0.1f}, {1, 0.005f, 2, 0.1f}};
  EXPECT_THAT(c.sentences(), ElementsAre(HasSubstr("coverage_threshold of class 'mask'")));
}

TEST(Diagnose, ConfidenceThresholdThatCutsEverything) {
  Case c;
  c.signals = {{0.6f, 0.005f, 0.6f, 0.9f}, {1, 0.005f, 2, 0.1f}};
  EXPECT_THAT(c.sentences(), ElementsAre(HasSubstr("confidence threshold of class 'mask'")));
}

TEST(Diagnose, NothingDetectedWithoutSignalsListsTheThresholds) {
  EXPECT_THAT(Case().sentences(), ElementsAre(HasSubstr("Nothing was detected as 'mask'")));
}

TEST(Diagnose, BoxesInTheWrongPlace) {
  Case c;
  c.pictures[0].detections.push_back({{400, 400, 450, 450}, 0, 0.9f});
  EXPECT_THAT(c.sentences(), ElementsAre(HasSubstr("wrong places")));
}

// "0.50, 0.5 is needed" would make no sense.
TEST(Diagnose, AnOverlapThatIsJustTooSmallIsNotRoundedUp) {
  Case c;
  c.pictures[0].detections.push_back({{26.69f, 10, 76.69f, 60}, 0, 0.9f});
  EXPECT_THAT(c.sentences(), ElementsAre(HasSubstr("is 0.499, 0.5 is needed")));
}

TEST(Diagnose, ClassesInTheWrongOrder) {
  Case c;
  c.pictures[0].detections = {{{10, 10, 60, 60}, 1, 0.9f}, {{200, 200, 250, 250}, 0, 0.9f}};
  EXPECT_THAT(c.sentences(),
              ElementsAre(HasSubstr("found, but as 'no-mask'"), HasSubstr("found, but as 'mask'")));
}

TEST(Diagnose, DetectionsOutsideTheSizeLimits) {
  Case c;
  (*c.config.mutable_evaluation_box_config())["mask"].set_maximum_width(80);
  c.pictures[0].detections.push_back({{0, 0, 400, 400}, 0, 0.9f});
  EXPECT_THAT(c.sentences(), Contains(HasSubstr("All 1 detections of class 'mask' are outside")));
}

TEST(Diagnose, AnEmptySplit) {
  Case c;
  c.pictures.clear();
  EXPECT_THAT(c.sentences(), ElementsAre(HasSubstr("No picture was evaluated")));
}

}  // namespace
}  // namespace maskfit::evaluate
