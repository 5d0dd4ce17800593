#include "formats/mafa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/support/mat_writer.h"

namespace maskfit::formats {
namespace {

using namespace support;
using testing::HasSubstr;

const std::vector<double> kTestRow = {54, 47, 130, 120, 1, 20, 60, 90, 61, 2, 3, 1, 4, 3, 5, 6, 7, 8};

std::string test_file(const std::vector<std::vector<double>>& rows) {
  return mat_file(
      mat_struct({"name", "label"}, {mat_text("test_00000001.jpg"), mat_numbers(rows)}, "LabelTest"));
}

TEST(Mafa, EveryColumnOfTheTestFile) {
  base::Findings findings;
  const MafaFile file = parse_mafa(test_file({kTestRow}), "f", &findings);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(file.part, MafaPart::kTest);
  ASSERT_EQ(file.pictures.size(), 1u);
  EXPECT_EQ(file.pictures[0].name, "test_00000001.jpg");
  ASSERT_EQ(file.pictures[0].faces.size(), 1u);
  const MafaFace& face = file.pictures[0].faces[0];
  EXPECT_EQ(face.box_in_image(), (boxes::Box{54, 47, 184, 167}));
  EXPECT_EQ(face.type, MafaFaceType::kMasked);
  EXPECT_EQ(face.left_eye_x, -1);
  EXPECT_EQ(face.occluder, (MafaRect{20, 60, 90, 61}));
  EXPECT_EQ(face.occluder_type, 2);
  EXPECT_EQ(face.occlusion_degree, 3);
  EXPECT_EQ(face.gender, 1);
  EXPECT_EQ(face.race, 4);
  EXPECT_EQ(face.orientation, 3);
  EXPECT_EQ(face.glasses, (MafaRect{5, 6, 7, 8}));
}

TEST(Mafa, APictureWithoutFacesIsKept) {
  base::Findings findings;
  const MafaFile file = parse_mafa(test_file({}), "f", &findings);
  ASSERT_EQ(file.pictures.size(), 1u);
  EXPECT_TRUE(file.pictures[0].faces.empty());
  EXPECT_TRUE(findings.empty());
}

TEST(Mafa, ARecordOfAnotherWidthOrWithoutNumbersIsRefused) {
  base::Findings findings;
  EXPECT_TRUE(parse_mafa(test_file({{1, 2, 3}}), "f.mat", &findings).pictures.empty());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 1);
  EXPECT_THAT(findings[0].what, HasSubstr("3 columns a face, expected 18"));
  findings.clear();
  auto row = kTestRow;
  row[2] = std::nan("");
  const MafaFile file = parse_mafa(test_file({row, kTestRow}), "f.mat", &findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].field, "label(1,3)");
  ASSERT_EQ(file.pictures.size(), 1u);
  EXPECT_EQ(file.pictures[0].faces.size(), 1u);
  EXPECT_EQ(file.pictures[0].faces[0].line, 2);
}

TEST(Mafa, AnotherMatlabFileIsNamedByWhatItHolds) {
  base::Findings findings;
  try {
    parse_mafa(mat_file(mat_numbers({{1}}, "speed")), "f.mat", &findings);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it holds speed"));
  }
}

}  // namespace
}  // namespace maskfit::formats
