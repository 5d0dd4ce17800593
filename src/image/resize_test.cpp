#include "image/resize.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "image/draw.h"

namespace maskfit::image {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Image grey(int width, int height, std::vector<std::uint8_t> pixels) {
  return {width, height, 1, std::move(pixels)};
}

// 5 x 4 RGB, the same formula as in the Python that made the Pillow numbers below:
//   (37*x + 91*y + 53*c + 11*x*y*(c+1)) % 256
Image formula_picture() {
  Image image{5, 4, 3, {}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        image.pixels.push_back(
            static_cast<std::uint8_t>((37 * x + 91 * y + 53 * c + 11 * x * y * (c + 1)) % 256));
      }
    }
  }
  return image;
}

TEST(ResizeTf1, EnlargingStartsAtThePixelCornersAndRepeatsTheLast) {
  // source = output * 2 / 4 = 0, .5, 1, 1.5; behind the last pixel there is nothing to blend with.
  EXPECT_THAT(resize_bilinear_tf1(grey(2, 1, {0, 100}), {4, 1}).pixels, ElementsAre(0, 50, 100, 100));
}

TEST(ResizeTf1, ShrinkingPicksWithoutAveraging) {
  // source = 0, 2: the pixels between are not looked at (no antialiasing).
  EXPECT_THAT(resize_bilinear_tf1(grey(4, 1, {10, 255, 30, 255}), {2, 1}).pixels, ElementsAre(10, 30));
}

TEST(ResizeTf1, BothAxesBlend) {
  // rows at 0 and 2/3, columns at 0, 2/3, 4/3 of [[0, 90], [180, 30]]
  const Image result = resize_bilinear_tf1(grey(2, 2, {0, 90, 180, 30}), {3, 3});
  EXPECT_THAT(result.pixels, ElementsAre(0, 60, 90, 120, 73, 50, 180, 80, 30));
}

TEST(ResizeTf1, SameSizeIsUntouched) {
  EXPECT_EQ(resize_bilinear_tf1(formula_picture(), {5, 4}).pixels, formula_picture().pixels);
}

TEST(ResizeAntialias, HalvingAveragesWithATriangle) {
  // scale 2, triangle of radius 2 around 1 and 3: weights .75 .75 .25 (cut at the edge) of 4 pixels,
  // normalised output 0: (0*.75 + 0*.75 + 140*.25) / 1.75 = 20
  EXPECT_THAT(resize_antialias(grey(4, 1, {0, 0, 140, 140}), {2, 1}).pixels, ElementsAre(20, 120));
}

TEST(ResizeAntialias, EnlargingUsesHalfPixelCentres) {
  // output centres at .25 .75 1.25 1.75 of two pixels with centres .5 and 1.5
  EXPECT_THAT(resize_antialias(grey(2, 1, {0, 100}), {4, 1}).pixels, ElementsAre(0, 25, 75, 100));
}

// The numbers of the following tests are Pillow 13.0's Image.resize on formula_picture().
TEST(ResizeAntialias, EqualsPillowBilinear) {
  EXPECT_THAT(
      resize_antialias(formula_picture(), {3, 2}).pixels,
      ElementsAre(84, 125, 113, 126, 102, 138, 126, 139, 204, 125, 142, 80, 137, 102, 124, 127, 144, 131));
  EXPECT_THAT(resize_antialias(formula_picture(), {1, 1}).pixels, ElementsAre(123, 121, 133));
}

TEST(ResizeLanczos, EqualsPillowWhenShrinking) {
  EXPECT_THAT(
      resize_lanczos(formula_picture(), {3, 2}).pixels,
      ElementsAre(81, 126, 114, 131, 101, 134, 127, 136, 219, 130, 145, 79, 150, 99, 114, 125, 144, 125));
  EXPECT_THAT(resize_lanczos(formula_picture(), {1, 1}).pixels, ElementsAre(121, 123, 132));
}

TEST(ResizeLanczos, EqualsPillowWhenEnlarging) {
  const std::vector<int> pillow{
      0,   47,  89,  12,  56,  125, 42,  95,  176, 60,  142, 194, 78,  168, 210, 130, 193, 239,
      167, 207, 255, 28,  72,  175, 44,  134, 110, 90,  140, 63,  142, 56,  118, 192, 71,  170,
      136, 145, 222, 68,  183, 243, 115, 167, 197, 147, 203, 87,  173, 145, 14,  176, 16,  95,
      240, 47,  123, 143, 99,  176, 20,  98,  220, 182, 255, 43,  245, 148, 77,  204, 54,  174,
      55,  131, 224, 77,  220, 123, 142, 134, 127, 154, 18,  205, 91,  155, 65,  143, 131, 54,
      149, 88,  123, 89,  91,  201, 139, 167, 75,  144, 175, 81,  106, 134, 181, 0,   37,  151,
      28,  147, 39,  99,  154, 10,  171, 5,   125, 255, 49,  34,  146, 188, 64,  7,   253, 167};
  EXPECT_THAT(resize_lanczos(formula_picture(), {7, 6}).pixels, ElementsAreArray(pillow));
}

TEST(ResizeLanczos, EqualsPillowOnGrey) {
  const Image picture =
      grey(5, 4, {0, 37, 74, 111, 148, 91, 139, 187, 235, 27, 182, 241, 44, 103, 162, 17, 87, 157, 227, 41});
  EXPECT_THAT(resize_lanczos(picture, {3, 3}).pixels, ElementsAre(20, 118, 130, 175, 154, 122, 88, 143, 127));
}

TEST(Resize, AFlatPictureStaysFlatAtEverySize) {
  const Image flat = filled({9, 7}, {255, 0, 77});
  for (const Size size : {Size{1, 1}, Size{4, 13}, Size{9, 3}, Size{31, 7}}) {
    const Image expected = filled(size, {255, 0, 77});
    EXPECT_EQ(resize_lanczos(flat, size).pixels, expected.pixels);
    EXPECT_EQ(resize_antialias(flat, size).pixels, expected.pixels);
    EXPECT_EQ(resize_bilinear_tf1(flat, size).pixels, expected.pixels);
  }
}

TEST(Resize, AnEmptySizeIsOurMistake) {
  for (const Size size : {Size{0, 4}, Size{4, 0}, Size{-1, 4}}) {
    EXPECT_THROW(resize_lanczos(formula_picture(), size), base::CheckFailed);
    EXPECT_THROW(resize_antialias(formula_picture(), size), base::CheckFailed);
    EXPECT_THROW(resize_bilinear_tf1(formula_picture(), size), base::CheckFailed);
    EXPECT_THROW(pad_to(formula_picture(), size, 0), base::CheckFailed);
  }
}

TEST(PadTo, PadsRightAndBottom) {
  EXPECT_THAT(pad_to(grey(2, 1, {1, 2}), {3, 2}, 9).pixels, ElementsAre(1, 2, 9, 9, 9, 9));
}

TEST(PadTo, CropsRightAndBottom) {
  EXPECT_THAT(pad_to(grey(3, 2, {1, 2, 3, 4, 5, 6}), {2, 1}, 9).pixels, ElementsAre(1, 2));
}

}  // namespace
}  // namespace maskfit::image
