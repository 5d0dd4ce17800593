#include "audit/crops.h"

#include <gtest/gtest.h>

#include "dataset/test_pictures.h"

namespace maskfit::audit {
namespace {

using dataset::Print;
using dataset::print_of;
using dataset::scene;

image::Image cut(const image::Image& picture, int x1, int y1, int x2, int y2) {
  image::Image part{x2 - x1, y2 - y1, 3, {}};
  for (int y = y1; y < y2; ++y)
    part.pixels.insert(part.pixels.end(), picture.row(y) + 3 * x1, picture.row(y) + 3 * x2);
  return part;
}

TEST(Crops, APartIsPlacedExactly) {
  const image::Image picture = scene(4);
  const GreyPicture whole = grey_picture(picture, 128);
  const GreyPicture small = grey_picture(cut(picture, 32, 12, 288, 216), 128);
  boxes::Box part{0.08f, 0.08f, 0.92f, 0.92f};
  EXPECT_GT(place_part(whole, small, &part), 0.985);
  EXPECT_NEAR(part.x1, 0.1, 0.015);
  EXPECT_NEAR(part.y1, 0.05, 0.015);
  EXPECT_NEAR(part.x2, 0.9, 0.015);
  EXPECT_NEAR(part.y2, 0.9, 0.015);
}

TEST(Crops, AnotherPictureIsNoPart) {
  const GreyPicture whole = grey_picture(scene(4), 128);
  for (int other = 10; other < 18; ++other) {
    boxes::Box part{0.1f, 0.1f, 0.9f, 0.9f};
    EXPECT_LT(place_part(whole, grey_picture(scene(other), 128), &part), 0.9) << other;
  }
}

TEST(Crops, ThePrintOfAPartComesFromThePrintOfTheWhole) {
  const image::Image picture = scene(5);
  const Print direct = print_of(cut(picture, 0, 0, 256, 192));
  const Print derived = print_of_part(print_of(picture), {0, 0, 0.8f, 0.8f});
  EXPECT_GT(dataset::correlation(direct, derived), 0.95);
  EXPECT_EQ(print_of_part(direct, {0, 0, 1, 1}), direct);
}

// The matrices say what cutting, resampling and hashing say.
TEST(Crops, TheHashesOfPartsAreThoseOfTheirPrints) {
  for (int i = 0; i < 6; ++i) {
    const Print print = print_of(scene(i));
    const std::vector<std::uint64_t> hashes = hashes_of_parts(print);
    ASSERT_EQ(hashes.size(), tried_parts().size());
    int bits = 0;
    for (std::size_t k = 0; k < hashes.size(); ++k)
      bits += dataset::distance(hashes[k], dataset::hash_of(print_of_part(print, tried_parts()[k])));
    EXPECT_LE(bits, 15) << i;  // of 45 * 63, by the rounding of prints to whole grey values
  }
}

TEST(Crops, TriedPartsLieInsideThePicture) {
  EXPECT_EQ(tried_parts().size(), 45u);
  for (const boxes::Box& part : tried_parts()) {
    EXPECT_GE(part.x1, 0);
    EXPECT_LE(part.x2, 1.0001f);
    EXPECT_LE(part.y2, 1.0001f);
  }
}

}  // namespace
}  // namespace maskfit::audit
