#include "dataset/fingerprint.h"

#include <gtest/gtest.h>

#include "dataset/test_pictures.h"
#include "image/draw.h"

namespace maskfit::dataset {
namespace {

TEST(Fingerprint, SurvivesScalingRecompressionAndLight) {
  for (int i = 0; i < 10; ++i) {
    const image::Image picture = scene(i);
    const Print print = print_of(picture);
    const std::uint64_t hash = hash_of(print);
    const Print small = print_of(image::resize_antialias(picture, {171, 128}));
    const Print coarse = print_of(image::decode_image(image::encode_jpeg(picture, 40), "coarse"));
    const Print light = print_of(brighter(picture, 0.8, 20));
    for (const Print& other : {small, coarse, light}) {
      EXPECT_LE(distance(hash, hash_of(other)), 6) << i;
      EXPECT_GT(correlation(print, other), 0.98) << i;
    }
  }
}

TEST(Fingerprint, OtherPicturesAreFar) {
  int near = 0;
  for (int a = 0; a < 12; ++a) {
    for (int b = 0; b < a; ++b)
      near += distance(hash_of(print_of(scene(a))), hash_of(print_of(scene(b)))) <= 10;
  }
  EXPECT_EQ(near, 0);
}

TEST(Fingerprint, TheHashOfTheMirrorImageFollowsFromTheHash) {
  const Print print = print_of(scene(3));
  const std::uint64_t turned = hash_of(mirrored(print));
  EXPECT_LE(distance(mirrored(hash_of(print)), turned), 1);
  EXPECT_GT(distance(hash_of(print), turned), 12);
  EXPECT_EQ(mirrored(mirrored(print)), print);
}

TEST(Fingerprint, BitZeroIsNeverSet) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hash_of(print_of(scene(i))) & 1, 0u);
}

TEST(Fingerprint, AUniformPictureHasNoContrastAndCorrelatesWithNothing) {
  const Print grey = print_of(image::filled({64, 64}, {90, 90, 90}));
  EXPECT_EQ(contrast(grey), 0);
  EXPECT_EQ(correlation(grey, grey), 0);
  EXPECT_GT(contrast(print_of(scene(1))), 10);
}

TEST(Fingerprint, GreyIsTheLumaOfColour) {
  const Print print = print_of(image::filled({40, 40}, {255, 0, 0}));
  EXPECT_EQ(print[17], 76);  // 0.299 * 255
}

}  // namespace
}  // namespace maskfit::dataset
