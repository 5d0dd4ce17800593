#include "formats/fddb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace maskfit::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The box around points on the ellipse's rim, found by walking along it.
std::array<double, 4> sampled_box(const FddbEllipse& e) {
  std::array<double, 4> box = {1e9, 1e9, -1e9, -1e9};
  for (int i = 0; i < 100000; ++i) {
    const double s = i * 2 * M_PI / 100000;
    const double u = e.major_radius * std::cos(s), v = e.minor_radius * std::sin(s);
    const double x = e.center_x + u * std::cos(e.angle) - v * std::sin(e.angle);
    const double y = e.center_y + u * std::sin(e.angle) + v * std::cos(e.angle);
    box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x), std::max(box[3], y)};
  }
  return box;
}

TEST(Fddb, TheBoxTouchesTheEllipseAtEveryAngle) {
  for (const double angle : {0.0, 0.3, 0.785, -1.2, 1.5708, 3.0}) {
    const FddbEllipse ellipse{60.9, 40.9, angle, 100.9, 120.9, 0};
    const auto box = ellipse.tight_box(), expected = sampled_box(ellipse);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(box[i], expected[i], 1e-3) << angle;
  }
}

TEST(Fddb, ReadsRecordsWithTheirLines) {
  base::Findings findings;
  const auto pictures = parse_fddb(
      "2002/08/11/big/img_591\n1\n123.583300 85.549500 1.265839 269.693400 161.781200  "
      "1\n\n2010/a/img_1\n0\n",
      "f", &findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[0].path, "2002/08/11/big/img_591");
  ASSERT_EQ(pictures[0].faces.size(), 1u);
  EXPECT_EQ(pictures[0].faces[0].minor_radius, 85.5495);
  EXPECT_EQ(pictures[0].faces[0].line, 3);
  EXPECT_EQ(pictures[1].path, "2010/a/img_1");
  EXPECT_TRUE(pictures[1].faces.empty());
}

TEST(Fddb, ACutRecordIsRefused) {
  base::Findings findings;
  EXPECT_THAT(parse_fddb("2002/a/img_1\n2\n1 2 3 4 5 1\n", "fold.txt", &findings), IsEmpty());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].file, "fold.txt");
  EXPECT_THAT(findings[0].what, HasSubstr("states 2 faces"));
}

TEST(Fddb, ListsOfPathsAreToldFromEllipses) {
  EXPECT_THAT(parse_fddb_paths("2002/08/11/big/img_591\r\n2002/08/26/big/img_265\n"),
              ElementsAre("2002/08/11/big/img_591", "2002/08/26/big/img_265"));
  EXPECT_THAT(parse_fddb_paths("2002/08/11/big/img_591\n1\n"), IsEmpty());
  EXPECT_TRUE(is_fddb_text("2002/a/img_1\n1\n1 2 3 4 5 1\n"));
  EXPECT_FALSE(is_fddb_text("2002/a/img_1\n2002/a/img_2\n"));
}

}  // namespace
}  // namespace maskfit::formats
