#include "formats/yolo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(Yolo, BoxesAndOutlines) {
  base::Findings findings;
  const auto boxes = parse_yolo("0 0.5 0.25 0.2 0.1\r\n\r\n 3  0.1 0.2 0.5 0.2 0.3 0.8", "f", &findings);
  EXPECT_THAT(findings, IsEmpty());
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].center_x, 0.5);
  EXPECT_EQ(boxes[0].height, 0.1);
  EXPECT_EQ(boxes[1].class_id, 3);
  EXPECT_TRUE(boxes[1].outline);
  EXPECT_DOUBLE_EQ(boxes[1].center_x, 0.3);
  EXPECT_DOUBLE_EQ(boxes[1].height, 0.6);
  EXPECT_EQ(boxes[1].line, 3);
}

TEST(Yolo, WhatIsNoBoxIsRefusedWithItsLineAndARemedy) {
  base::Findings findings;
  const auto boxes = parse_yolo(
      "0 0.5 0.5 0.1\n0.5 0.5 0.5 0.1 0.1\n-1 0.5 0.5 0.1 0.1\n0 0,5 0,5 0,1 0,1\n0 320 240 50 60\nface 0.5 "
      "0.5 0.1 0.1\n"
      "0 nan 0.5 0.1 0.1\n0 1 1 2 2 3 3 4\n",
      "a.txt", &findings);
  EXPECT_THAT(boxes, IsEmpty());
  ASSERT_EQ(findings.size(), 8u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(findings[static_cast<std::size_t>(i)].line, i + 1);
  EXPECT_THAT(findings[3].remedy, HasSubstr("decimal point"));
  EXPECT_THAT(findings[4].remedy, HasSubstr("divide by the picture's width"));
}

TEST(Yolo, AConfidenceShowsThatANetworkDrewTheBox) {
  base::Findings findings;
  EXPECT_EQ(parse_yolo("0 0.5 0.5 0.1 0.1 0.93\n", "f", &findings).size(), 1u);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, base::Severity::kWarning);
}

TEST(Yolo, IsRecognised) {
  EXPECT_TRUE(is_yolo_text("\n0 0.5 0.5 0.1 0.1\n"));
  EXPECT_FALSE(is_yolo_text("mask 0 0 0 1 2 3 4 0 0 0 0 0 0 0\n"));
  EXPECT_FALSE(is_yolo_text("10 20 30 40 50\n"));
  EXPECT_FALSE(is_yolo_text(""));
}

TEST(YoloNames, OfEveryYamlThatIsAround) {
  EXPECT_THAT(parse_yolo_yaml("nc: 2\nnames: [face, mask]\n"), ElementsAre(Pair(0, "face"), Pair(1, "mask")));
  EXPECT_THAT(parse_yolo_yaml("names: ['a, b', \"c\"]  # two\n"), ElementsAre(Pair(0, "a, b"), Pair(1, "c")));
  EXPECT_THAT(parse_yolo_yaml("names:\n  0: mask\n  2: 'no-mask'\nroboflow:\n  project: x\n"),
              ElementsAre(Pair(0, "mask"), Pair(2, "no-mask")));
  EXPECT_THAT(parse_yolo_yaml("train: a\nnames:\n- mask\n- no-mask # bare\nnc: 2\n"),
              ElementsAre(Pair(0, "mask"), Pair(1, "no-mask")));
  EXPECT_THAT(parse_yolo_yaml("names: [\n  mask,\n  no-mask\n]\nnc: 2\n"),
              ElementsAre(Pair(0, "mask"), Pair(1, "no-mask")));
  EXPECT_THAT(parse_yolo_yaml("names: {0: mask, 1: no-mask}\n"),
              ElementsAre(Pair(0, "mask"), Pair(1, "no-mask")));
  EXPECT_THAT(parse_yolo_yaml("a: 1\n"), IsEmpty());
}

TEST(YoloNames, AListCountsItsBlankLines) {
  EXPECT_THAT(parse_yolo_name_list("Mask\r\n\r\nNo_Mask"), ElementsAre(Pair(0, "Mask"), Pair(2, "No_Mask")));
}

}  // namespace
}  // namespace maskfit::formats
