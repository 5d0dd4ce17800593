#include "formats/widerface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/mat_writer.h"

namespace maskfit::formats {
namespace {

using namespace support;
using testing::HasSubstr;

constexpr const char* kRow = "449 330 122 149 1 0 1 0 2 1\n";

TEST(WiderText, EveryColumn) {
  base::Findings findings;
  const auto pictures = parse_wider_text(std::string("0--Parade/a.jpg\n1\n") + kRow, "f", &findings);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].event, "0--Parade");
  EXPECT_EQ(pictures[0].path, "0--Parade/a.jpg");
  ASSERT_EQ(pictures[0].faces.size(), 1u);
  const WiderFace& face = pictures[0].faces[0];
  EXPECT_EQ(face.box_in_image(), (boxes::Box{449, 330, 571, 479}));
  EXPECT_EQ(face.blur, 1);
  EXPECT_EQ(face.expression, 0);
  EXPECT_EQ(face.illumination, 1);
  EXPECT_EQ(face.invalid, 0);
  EXPECT_EQ(face.occlusion, 2);
  EXPECT_EQ(face.pose, 1);
  EXPECT_EQ(face.line, 3);
}

// Four parsers of this file are known to lose their place here.
TEST(WiderText, ARecordOfNoFacesWithAndWithoutItsLineOfZerosAndCrLf) {
  base::Findings findings;
  const std::string text =
      "0--Parade/a.jpg\r\n0\r\n0 0 0 0 0 0 0 0 0 0 \r\n0--Parade/b.jpg\r\n0\r\n0--Parade/c.jpg\r\n1\r\n"
      "10 10 0 20 0 0 0 1 0 0\r\n";
  const auto pictures = parse_wider_text(text, "f", &findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_TRUE(pictures[0].faces.empty());
  EXPECT_TRUE(pictures[1].faces.empty());
  ASSERT_EQ(pictures[2].faces.size(), 1u);
  EXPECT_EQ(pictures[2].faces[0].width, 0);
  EXPECT_EQ(pictures[2].faces[0].invalid, 1);
}

TEST(WiderText, ARecordThatDoesNotAddUpIsRefusedAndTheNextIsRead) {
  base::Findings findings;
  const std::string text = std::string("0--P/a.jpg\n2\n") + kRow + "0--P/b.jpg\n1\n" + kRow + kRow +
                           "0--P/c.jpg\n0--P/d.jpg\n1\n1 2 x 4 0 0 0 0 0 0\n0--P/e.jpg\n1\n" + kRow;
  const auto pictures = parse_wider_text(text, "gt.txt", &findings);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].path, "0--P/e.jpg");
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].line, 1);
  EXPECT_THAT(findings[0].what, HasSubstr("states 2 faces, and 1 rows follow"));
  EXPECT_THAT(findings[1].what, HasSubstr("states 1 faces, and 2 rows follow"));
  EXPECT_THAT(findings[2].what, HasSubstr("no number of faces follows"));
  EXPECT_EQ(findings[3].line, 11);
  EXPECT_THAT(findings[3].what, HasSubstr("1 2 x 4"));
}

TEST(WiderText, IsRecognised) {
  EXPECT_TRUE(is_wider_text(std::string("0--Parade/a.jpg\n1\n") + kRow));
  EXPECT_TRUE(is_wider_text("0--Parade/a.jpg\n0\n0--Parade/b.jpg\n"));
  EXPECT_FALSE(is_wider_text("2002/08/11/big/img_591\n1\n123.5 85.5 1.2 269.6 161.7  1\n"));
  EXPECT_FALSE(is_wider_text("0 0.5 0.5 0.1 0.1\n"));
  EXPECT_FALSE(is_wider_text(""));
}

std::string wider_mat(const std::string& occlusion) {
  return mat_file(mat_cells({mat_text("0--Parade")}, "event_list") +
                  mat_cells({mat_cells({mat_text("a"), mat_text("b")})}, "file_list") +
                  mat_cells({mat_cells({mat_numbers({{1, 2, 3, 4}, {5, 6, 7.5, 8}}), mat_numbers({})})},
                            "face_bbx_list") +
                  occlusion);
}

TEST(WiderMat, BoxesAndAttributes) {
  base::Findings findings;
  const auto pictures = parse_wider_mat(
      wider_mat(mat_cells({mat_cells({mat_numbers({{2}, {0}}), mat_numbers({})})}, "occlusion_label_list")),
      "f", &findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[0].path, "0--Parade/a.jpg");
  ASSERT_EQ(pictures[0].faces.size(), 2u);
  EXPECT_EQ(pictures[0].faces[0].occlusion, 2);
  EXPECT_EQ(pictures[0].faces[1].box_in_image(), (boxes::Box{5, 6, 12.5, 14}));
  EXPECT_TRUE(pictures[1].faces.empty());
}

TEST(WiderMat, AttributesThatDoNotMatchTheFacesRefuseThePicture) {
  base::Findings findings;
  const auto pictures = parse_wider_mat(
      wider_mat(mat_cells({mat_cells({mat_numbers({{2}}), mat_numbers({})})}, "occlusion_label_list")), "f",
      &findings);
  EXPECT_EQ(pictures.size(), 1u);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].what, HasSubstr("1 numbers for the 2 faces"));
  EXPECT_THROW(parse_wider_mat(mat_file(mat_numbers({{1}}, "x")), "f", &findings), base::Error);
}

}  // namespace
}  // namespace maskfit::formats
