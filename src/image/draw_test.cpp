#include "image/draw.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "image/font.h"

namespace maskfit::image {
namespace {

constexpr Color kBlack{0, 0, 0}, kRed{255, 0, 0}, kWhite{255, 255, 255};

// One character a pixel: '#' for `ink`, '.' for anything else.
std::vector<std::string> art(const Image& image, Color ink) {
  std::vector<std::string> rows;
  for (int y = 0; y < image.height; ++y) {
    std::string row;
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* p = image.row(y) + 3 * x;
      row += Color{p[0], p[1], p[2]} == ink ? '#' : '.';
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(DrawBox, OutlineCoversTheBoxsOwnBorderPixels) {
  Image image = filled({6, 5}, kBlack);
  draw_box(image, {1, 1, 5, 4}, kRed, 1);
  EXPECT_THAT(art(image, kRed), ::testing::ElementsAre("......", ".####.", ".#..#.", ".####.", "......"));
}

TEST(DrawBox, WiderLinesGrowOutward) {
  Image image = filled({7, 7}, kBlack);
  draw_box(image, {2, 2, 5, 5}, kRed, 2);
  EXPECT_THAT(art(image, kRed), ::testing::ElementsAre(".......", ".#####.", ".#####.", ".##.##.", ".#####.",
                                                       ".#####.", "......."));
}

TEST(DrawBox, PartsOutsideAreCutAndNonsenseDoesNoHarm) {
  Image image = filled({4, 3}, kBlack);
  draw_box(image, {-2, -2, 3, 10}, kRed, 1);
  EXPECT_THAT(art(image, kRed), ::testing::ElementsAre("..#.", "..#.", "..#."));
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  draw_box(image, {-inf, nan, inf, 1e30f}, kRed, 3);
  draw_box(image, {3, 3, 1, 1}, kRed, 1);
}

TEST(DrawCaption, WritesTheGlyphOnItsBackground) {
  Image image = filled({20, 20}, kBlack);
  draw_caption(image, 0, 0, "T", kRed, kWhite);
  const auto rows = art(image, kRed);
  EXPECT_EQ(rows[2].substr(0, 9), "..#####..");
  EXPECT_EQ(rows[3].substr(0, 9), "....#....");
  EXPECT_EQ(art(image, kWhite)[0].substr(0, 10), "#########.");
  EXPECT_EQ(caption_size("T"), (Size{9, 12}));
  EXPECT_EQ(caption_size("TT", 2), (Size{30, 24}));
}

TEST(DrawCaption, IsMovedInsideThePicture) {
  Image image = filled({30, 20}, kBlack);
  draw_caption(image, 28, 19, "ab", kBlack, kWhite);
  const auto rows = art(image, kWhite);
  EXPECT_EQ(rows[8].substr(14), std::string(1, '.') + std::string(15, '#'));
  EXPECT_EQ(rows[19].substr(14), std::string(1, '.') + std::string(15, '#'));
}

TEST(DrawCaption, LongerThanThePictureIsCut) {
  Image image = filled({12, 6}, kBlack);
  draw_caption(image, 0, 0, "a long caption", kRed, kWhite, 2);
  EXPECT_EQ(image.pixels.size(), 12u * 6u * 3u);
}

TEST(Font, EveryPrintableCharacterHasItsOwnShape) {
  std::set<std::string> shapes;
  for (int c = 32; c <= 126; ++c) {
    const std::string shape = glyph(static_cast<char>(c));
    EXPECT_EQ(shape.size(), static_cast<std::size_t>(kGlyphWidth * kGlyphHeight)) << c;
    EXPECT_TRUE(shapes.insert(shape).second) << "the glyph of " << c << " is that of another character";
  }
  EXPECT_FALSE(shapes.count(glyph('\n'))) << "an unknown character looks like a known one";
}

TEST(ClassColor, TheFirstColoursDiffer) {
  std::set<Color> colors;
  for (int i = 0; i < 40; ++i) colors.insert(class_color(i));
  EXPECT_GE(colors.size(), 38u);
}

TEST(ContactSheet, FitsEachPictureIntoItsTile) {
  const Image sheet =
      contact_sheet({filled({10, 10}, kRed), filled({4, 8}, kRed), filled({1, 1}, kRed)}, 2, {8, 4});
  EXPECT_EQ(sheet.width, 16);
  EXPECT_EQ(sheet.height, 8);
  const auto rows = art(sheet, kRed);
  EXPECT_EQ(rows[0], "..####.....##...");
  EXPECT_EQ(rows[4], "..####..........");
}

TEST(ContactSheet, AnEmptyListGivesAnEmptyTile) {
  const Image sheet = contact_sheet({}, 4, {8, 4});
  EXPECT_EQ(sheet.width, 8);
  EXPECT_EQ(sheet.height, 4);
}

}  // namespace
}  // namespace maskfit::image
