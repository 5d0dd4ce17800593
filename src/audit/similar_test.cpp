#include "audit/similar.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/grouping.h"
#include "audit/sequences.h"
#include "dataset/test_pictures.h"
#include "image/draw.h"
#include "image/reduced.h"

namespace maskfit::audit {
namespace {

using dataset::flipped;
using dataset::scene;
using testing::ElementsAre;
using testing::IsEmpty;

// Files in memory.
class Heap {
 public:
  std::uint32_t add(std::string bytes, std::string id = "") {
    const auto i = static_cast<std::uint32_t>(files_.size());
    ids_.push_back(id.empty() ? fmt::format("picture{}x", i) : std::move(id));
    facts_.push_back(dataset::facts_of(bytes, ids_.back()));
    files_.push_back(std::move(bytes));
    return i;
  }
  std::uint32_t jpeg(const image::Image& picture, int quality = 90, std::string id = "") {
    return add(image::encode_jpeg(picture, quality), std::move(id));
  }

  Similarity search() const {
    return find_similar(ids_, facts_,
                        [this](std::uint32_t i, int side) {
                          return side > 0 ? image::decode_reduced(files_[i], ids_[i], side)
                                          : image::decode_image(files_[i], ids_[i]);
                        },
                        {});
  }

 private:
  std::vector<std::string> ids_, files_;
  std::vector<PictureFacts> facts_;
};

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const Similarity& similar, Likeness likeness) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const SimilarPair& pair : similar.pairs) {
    if (pair.likeness == likeness) pairs.emplace_back(pair.a, pair.b);
  }
  return pairs;
}

TEST(Similar, TellsFilesPixelsSizesAndMirrorImagesApart) {
  Heap heap;
  for (int i = 0; i < 8; ++i) heap.jpeg(scene(i));
  const std::string png = image::encode_png(scene(8));
  const std::uint32_t original = heap.add(png);
  const std::uint32_t same_file = heap.add(png);
  const std::uint32_t scaled = heap.jpeg(image::resize_antialias(scene(2), {200, 150}), 70);
  const std::uint32_t turned = heap.jpeg(flipped(scene(3)), 80);
  // Bytes behind the end change the file and no pixel.
  const std::uint32_t same_pixels = heap.add(image::encode_jpeg(scene(5), 90) + "trailing");
  const Similarity similar = heap.search();
  EXPECT_THAT(pairs_of(similar, Likeness::kSameFile), ElementsAre(std::pair(original, same_file)));
  EXPECT_THAT(pairs_of(similar, Likeness::kSamePixels), ElementsAre(std::pair(5u, same_pixels)));
  EXPECT_THAT(pairs_of(similar, Likeness::kNear), ElementsAre(std::pair(2u, scaled)));
  EXPECT_THAT(pairs_of(similar, Likeness::kMirrored), ElementsAre(std::pair(3u, turned)));
  EXPECT_EQ(similar.group[turned], 3u);
  EXPECT_EQ(similar.group[4], 4u);
}

TEST(Similar, DifferentScenesAreNot) {
  Heap heap;
  for (int i = 0; i < 60; ++i) heap.jpeg(scene(i, {160, 120}));
  EXPECT_THAT(heap.search().pairs, IsEmpty());
}

TEST(Similar, PicturesWithoutContrastAreAlikeOnlyAsFiles) {
  Heap heap;
  heap.jpeg(image::filled({100, 80}, {20, 20, 20}));
  heap.jpeg(image::filled({120, 80}, {20, 20, 20}));
  heap.jpeg(image::filled({120, 80}, {20, 20, 20}));
  const Similarity similar = heap.search();
  ASSERT_EQ(similar.pairs.size(), 1u);
  EXPECT_EQ(similar.pairs[0].likeness, Likeness::kSameFile);
}

TEST(Similar, AThousandCopiesGiveNoMillionPairs) {
  Heap heap;
  const image::Image picture = scene(1, {96, 72});
  for (int i = 0; i < 300; ++i)
    heap.add(image::encode_jpeg(picture, 90) + std::string(static_cast<std::size_t>(i + 1), 'x'));
  const Similarity similar = heap.search();
  EXPECT_GE(similar.pairs.size(), 299u);
  EXPECT_LE(similar.pairs.size(), 300u * 32);
  for (const std::uint32_t group : similar.group) EXPECT_EQ(group, 0u);
}

TEST(Similar, PartsAreFoundInTheWholeAlsoMirrored) {
  Heap heap;
  for (int i = 0; i < 12; ++i) heap.jpeg(scene(i));
  const auto part_of = [](const image::Image& picture, int x1, int y1, int x2, int y2) {
    image::Image part{x2 - x1, y2 - y1, 3, {}};
    for (int y = y1; y < y2; ++y)
      part.pixels.insert(part.pixels.end(), picture.row(y) + 3 * x1, picture.row(y) + 3 * x2);
    return part;
  };
  const std::uint32_t corner = heap.jpeg(part_of(scene(2), 0, 0, 260, 195), 70);
  const std::uint32_t middle = heap.jpeg(part_of(scene(6), 36, 24, 290, 220));
  const std::uint32_t turned = heap.jpeg(flipped(part_of(scene(9), 60, 40, 320, 240)));
  const Similarity similar = heap.search();
  EXPECT_THAT(pairs_of(similar, Likeness::kCropped),
              ElementsAre(std::pair(2u, corner), std::pair(6u, middle), std::pair(9u, turned)));
  EXPECT_EQ(similar.pairs.size(), 3u);
  for (const SimilarPair& pair : similar.pairs) EXPECT_EQ(pair.whole, pair.a);
  EXPECT_TRUE(similar.pairs[2].mirrored);
  EXPECT_NEAR(similar.pairs[0].part_of_whole.area(), 0.66, 0.04);
}

TEST(Similar, DamagedPicturesAreLikeNothing) {
  Heap heap;
  heap.add("no picture");
  heap.add("no picture");
  EXPECT_THAT(heap.search().pairs, IsEmpty());
}

// A camera that pans over a large scene.
image::Image frame(int number) {
  static const image::Image wide = scene(7, {480, 240});
  image::Image picture{300, 240, 3, {}};
  for (int y = 0; y < 240; ++y) {
    const std::uint8_t* begin = wide.row(y) + static_cast<std::ptrdiff_t>(3) * 3 * number;
    picture.pixels.insert(picture.pixels.end(), begin, begin + 900);
  }
  return picture;
}

TEST(Sequences, FramesOfAVideoBelongTogether) {
  Heap heap;
  for (int i = 0; i < 12; ++i) heap.jpeg(frame(i), 90, fmt::format("clip/frame_{:04d}", i));
  for (int i = 0; i < 5; ++i) heap.jpeg(scene(50 + i), 90, fmt::format("photos/img_{}", i));
  const Similarity similar = heap.search();
  ASSERT_EQ(similar.sequences.size(), 1u);
  EXPECT_EQ(similar.sequences[0].frames.size(), 12u);
  EXPECT_EQ(similar.sequences[0].frames.front(), 0u);
  EXPECT_EQ(similar.group[11], 0u);
  EXPECT_EQ(similar.group[13], 13u);
}

TEST(Sequences, NamesAreASeriesAndANumber) {
  EXPECT_EQ(numbered_name("clips/a/frame_0012").series, "clips/a/frame_#");
  EXPECT_EQ(numbered_name("clips/a/frame_0012").number, 12);
  EXPECT_EQ(numbered_name("v1/12_left").series, "v1/#_left");
  EXPECT_EQ(numbered_name("v1/portrait").number, -1);
  EXPECT_EQ(numbered_name("1234567890123").number, -1);
}

TEST(Grouping, TakesTheNameThatIsThereAndJoinsWhatIsParted) {
  std::vector<dataset::Sample> samples(6);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].id = std::string(1, static_cast<char>('a' + i));
    samples[i].split = "train";
  }
  samples[4].group = "video";
  samples[1].split = "val";
  Similarity similar;
  similar.group = {0, 0, 0, 3, 4, 4};
  EXPECT_EQ(group_similar(similar, &samples), 5);
  EXPECT_EQ(samples[0].group, "a");
  EXPECT_EQ(samples[2].group, "a");
  EXPECT_EQ(samples[3].group, "");
  EXPECT_EQ(samples[5].group, "video");
  EXPECT_EQ(join_parted_groups(&samples), 1);
  EXPECT_EQ(samples[1].split, "train");
  samples[4].split = "test";
  EXPECT_EQ(join_parted_groups(&samples), 1);
  EXPECT_EQ(samples[5].split, "test") << "of equals the one that training does not see";
}

}  // namespace
}  // namespace maskfit::audit
