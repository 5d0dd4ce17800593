#include "report/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "image/draw.h"

namespace maskfit::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kNames = {"mask", "no-mask"};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

evaluate::Evaluation evaluation() {
  evaluate::Options options;
  options.confusion_threshold = 0.5f;
  return evaluate::evaluate({{"a",
                              {{{0, 0, 50, 50}, 0, 0.9f}, {{300, 0, 350, 50}, 1, 0.8f}},
                              {{{0, 0, 50, 50}, 0, false}, {{100, 0, 150, 50}, 0, false}}}},
                            kNames, {}, options);
}

TEST(Headline, HoldsTheMeansAndTheCallersFacts) {
  Report report;
  EXPECT_EQ(headline_section(report), "");
  report.evaluation = evaluation();
  report.headline = {{"training time", "3:07"}};
  const std::string html = headline_section(report);
  EXPECT_THAT(html, HasSubstr("mAP75"));
  EXPECT_THAT(html, HasSubstr("3:07"));
}

TEST(Notes, AreLeftOutWhenThereAreNone) {
  Report report;
  EXPECT_EQ(notes_section(report), "");
  report.notes = {"a < b"};
  EXPECT_THAT(notes_section(report), HasSubstr("a &lt; b"));
}

TEST(Classes, ShowPercentagesAndTheKindOfAp) {
  evaluate::Evaluation e = evaluation();
  EXPECT_THAT(classes_section(e), HasSubstr("50.0"));
  EXPECT_THAT(classes_section(e), HasSubstr("all-point, COCO"));
  e.options.mode = evaluate::ApMode::kIntegrate;
  e.options.reference_matching = true;
  EXPECT_THAT(classes_section(e), HasSubstr("INTEGRATE, the reference's matching"));
}

TEST(Classes, AnApThatIsNotFiniteIsNotDrawn) {
  evaluate::Evaluation e = evaluation();
  e.classes[0].ap = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(classes_section(e), HasSubstr("n/a"));
  EXPECT_THAT(classes_section(e), Not(HasSubstr("nan")));
}

TEST(Confusion, SharesAreOfTheRowAndTheLastCornerIsEmpty) {
  const std::string html = confusion_section(evaluation());
  // One of two masks found, one missed; one false alarm as no-mask.
  EXPECT_EQ(count(html, "--share:50%"), 2u);
  EXPECT_EQ(count(html, "--share:100%"), 1u);
  EXPECT_EQ(count(html, "<td></td>"), 1u);
}

TEST(PrecisionRecall, LeavesOutClassesWithoutObjects) {
  const std::string html = precision_recall_chart(evaluation());
  EXPECT_THAT(html, HasSubstr("mask (AP"));
  EXPECT_THAT(html, Not(HasSubstr("no-mask (AP")));
  EXPECT_THAT(html, HasSubstr("class=\"marker\"")) << "the operating point";
  EXPECT_EQ(precision_recall_chart(evaluate::Evaluation{}), "");
}

TEST(Curves, OneChartForEachKindThatHasValues) {
  Report report;
  EXPECT_EQ(curves_section(report), "");
  report.losses = {{"total", {{0, 1}, {1, 0.5}}, {}}};
  EXPECT_EQ(count(curves_section(report), "<figure"), 1u);
  report.learning_rate = Series{"lr", {{0, 1e-3}, {1, 1e-4}}, {}};
  report.ap = {{"mAP", {{1, 0.5}}, {}}};
  EXPECT_EQ(count(curves_section(report), "<figure"), 3u);
}

Picture picture(int boxes) {
  Picture result{"p", image::filled({640, 480}, {20, 40, 60}), {}, {}};
  for (int i = 0; i < boxes; ++i) {
    const float x = 30.0f * static_cast<float>(i % 20), y = 40.0f * static_cast<float>(i / 20);
    result.truths.push_back({{x, y, x + 20, y + 30}, 0, false});
    result.detections.push_back({{x, y, x + 20, y + 30}, i == 0 ? 1 : 0, 0.9f});
  }
  return result;
}

TEST(Pictures, InACrowdOnlyErrorsAreCaptioned) {
  const std::string few = pictures_section("H", "E", {picture(3)}, kNames, 0.5f);
  EXPECT_EQ(count(few, "<text"), 4u) << "three detections, and what the confused one is";
  const std::string many = pictures_section("H", "E", {picture(60)}, kNames, 0.5f);
  EXPECT_EQ(count(many, "<text"), 2u);
  EXPECT_EQ(count(many, "<title>mask 0.90</title>"), 59u) << "the others show under the pointer";
}

TEST(Pictures, WithoutPicturesThereIsNoSection) {
  EXPECT_EQ(pictures_section("H", "E", {}, kNames, 0.5f), "");
  EXPECT_EQ(pictures_section("H", "E", {Picture{}}, kNames, 0.5f), "") << "a picture that could not be read";
}

TEST(Pictures, AReversedBoxHasNoNegativeSide) {
  Picture p = picture(0);
  p.detections = {{{60, 60, 20, 20}, 0, 0.9f}};
  EXPECT_THAT(pictures_section("H", "E", {p}, kNames, 0.5f), Not(HasSubstr("width=\"-")));
}

TEST(Pictures, AClassThatTheModelDoesNotHaveIsAQuestionMark) {
  Picture p = picture(0);
  p.truths = {{{0, 0, 20, 20}, 7, false}};
  EXPECT_THAT(pictures_section("H", "E", {p}, kNames, 0.5f), HasSubstr("missed: ?"));
}

TEST(Facts, SpecIsEscapedAndFolded) {
  Report report;
  report.facts = {{"Run", {{"seed", "42"}}}};
  report.spec_text = "key: \"<mask>\"";
  const std::string html = facts_section(report);
  EXPECT_THAT(html, HasSubstr("<dt>seed</dt><dd>42</dd>"));
  EXPECT_THAT(html, HasSubstr("key: &quot;&lt;mask&gt;&quot;"));
  EXPECT_THAT(html, HasSubstr("<details"));
}

}  // namespace
}  // namespace maskfit::report
