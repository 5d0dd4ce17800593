#include "formats/kitti.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::formats {
namespace {

using testing::HasSubstr;

constexpr const char* kLine = "mask 0.25 2 -1.57 10.5 20 30.25 40 1 2 3 4 5 6 0.5";

std::string refusal(const std::string& text, KittiFields fields = KittiFields::k15Or16) {
  base::Findings findings;
  const auto labels = parse_kitti(text, "labels/a.txt", &findings, fields);
  if (findings.empty()) return "accepted";
  EXPECT_EQ(findings.back().severity, base::Severity::kRefused);
  EXPECT_TRUE(labels.empty());
  return base::to_string(findings.back());
}

TEST(Kitti, FifteenFieldsGoWhereTheyBelong) {
  base::Findings findings;
  const auto labels = parse_kitti(kLine, "a.txt", &findings);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_TRUE(findings.empty());
  const KittiLabel& label = labels[0];
  EXPECT_EQ(label.class_name, "mask");
  EXPECT_EQ(label.truncation, 0.25f);
  EXPECT_EQ(label.occlusion, 2);
  EXPECT_EQ(label.observation_angle, -1.57f);
  EXPECT_EQ(label.box_in_image, (boxes::Box{10.5f, 20, 30.25f, 40}));
  EXPECT_EQ(label.world_height, 1);
  EXPECT_EQ(label.world_width, 2);
  EXPECT_EQ(label.world_length, 3);
  EXPECT_EQ(label.world_x, 4);
  EXPECT_EQ(label.world_y, 5);
  EXPECT_EQ(label.world_z, 6);
  EXPECT_EQ(label.world_rotation_y, 0.5f);
  EXPECT_FALSE(label.score.has_value());
}

TEST(Kitti, PrintedLineReadsBackTheSame) {
  base::Findings findings;
  EXPECT_EQ(print_kitti(parse_kitti(kLine, "a.txt", &findings)[0]), kLine);
  const std::string awkward = "no-mask -1 -1 -10 599.41003 156.4 629.75 1e-05 0 0 0 -1000 -1000 -1000 -10";
  EXPECT_EQ(print_kitti(parse_kitti(awkward, "a.txt", &findings)[0]), awkward);
  EXPECT_TRUE(findings.empty());
}

TEST(Kitti, BlankInAClassNameIsPrintedAsUnderscore) {
  KittiLabel label;
  label.class_name = "no mask";
  EXPECT_THAT(print_kitti(label), testing::StartsWith("no_mask 0 0 0 "));
}

TEST(Kitti, ScoreIsReadWithAWarningAndPrinted) {
  base::Findings findings;
  const auto labels = parse_kitti(std::string(kLine) + " 0.9", "a.txt", &findings);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0].score, 0.9f);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, base::Severity::kWarning);
  EXPECT_EQ(print_kitti(labels[0]), std::string(kLine) + " 0.9");
}

TEST(Kitti, ScoreRefusesTheLineWhereExactly15FieldsAreAskedFor) {
  EXPECT_THAT(refusal(std::string(kLine) + " 0.9", KittiFields::kExactly15), HasSubstr("16 fields"));
}

TEST(Kitti, BlankLinesCarriageReturnsTabsAndByteOrderMarkAreNoTrouble) {
  base::Findings findings;
  const auto labels = parse_kitti(
      "\xEF\xBB\xBF"
      "a 0 0 0 1 2 3 4 0 0 0 0 0 0 0\r\n\r\n   \n\tb\t0 0 0 1 2 3 4 0 0 0 0 0 0 0",
      "a.txt", &findings);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].class_name, "a");
  EXPECT_EQ(labels[1].class_name, "b");
  EXPECT_EQ(labels[1].line, 4);
  EXPECT_TRUE(findings.empty());
}

TEST(Kitti, EmptyFileIsAPictureWithoutObjects) {
  base::Findings findings;
  EXPECT_TRUE(parse_kitti("", "a.txt", &findings).empty());
  EXPECT_TRUE(findings.empty());
}

TEST(KittiRefuses, WrongFieldCountWithFileAndLine) {
  EXPECT_EQ(refusal("\nmask 0 0 0 1 2 3 4 0 0 0 0 0 0"),
            "labels/a.txt:2: 14 fields, a KITTI label has 15; see docs/dataset-format.md for the 15 fields");
  EXPECT_THAT(refusal("mask 0 0 0 1 2 3 4 0 0 0 0 0 0 0 0.5 1"), HasSubstr("17 fields"));
  EXPECT_THAT(refusal("0 0.5 0.5 0.2 0.2"), HasSubstr("5 fields"));
}

TEST(KittiRefuses, ClassNameWithABlank) {
  EXPECT_THAT(refusal("no mask 0 0 0 1 2 3 4 0 0 0 0 0 0 0"),
              HasSubstr("truncation: 'mask' is not a number; a class name must not have blanks"));
}

TEST(KittiRefuses, DecimalComma) {
  EXPECT_THAT(refusal("mask 0 0 0 1,5 2 3 4 0 0 0 0 0 0 0"),
              HasSubstr("x1: '1,5' is not a number; write numbers with a decimal point"));
}

TEST(KittiRefuses, NumbersThatAreNotFinite) {
  EXPECT_THAT(refusal("mask 0 0 0 nan 2 3 4 0 0 0 0 0 0 0"), HasSubstr("x1: 'nan'"));
  EXPECT_THAT(refusal("mask 0 0 0 1 2 inf 4 0 0 0 0 0 0 0"), HasSubstr("x2: 'inf'"));
}

TEST(KittiRefuses, OneLineAndKeepsTheOthers) {
  base::Findings findings;
  const auto labels = parse_kitti(std::string("bad\n") + kLine + "\nbad 1\n", "a.txt", &findings);
  EXPECT_EQ(labels.size(), 1u);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].line, 1);
  EXPECT_EQ(findings[1].line, 3);
}

}  // namespace
}  // namespace maskfit::formats
