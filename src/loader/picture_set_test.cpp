#include "loader/picture_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::loader {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// Pictures on disk, each of one grey level, with the labels that the tests put there.
class PictureSetTest : public testing::Test {
 protected:
  void add(const std::string& name, int width, int height, std::uint8_t grey) {
    image::write_image(dir_ / name, {width, height, 3, std::vector<std::uint8_t>(3u * width * height, grey)});
    samples_.push_back({});
    samples_.back().id = name;
    samples_.back().width = width;
    samples_.back().height = height;
  }
  std::vector<LabeledPicture> pictures() const {
    std::vector<LabeledPicture> list;
    for (const dataset::Sample& sample : samples_) list.push_back({dir_ / sample.id, &sample});
    return list;
  }

  support::TempDir dir_;
  std::vector<dataset::Sample> samples_;
  const ClassMapping classes_{{"mask", "no-mask"}, {}};
  const PictureSetOptions small_{.canvas = {32, 16}};
};

TEST_F(PictureSetTest, CanvasesComeInOrderAndInTheNetworksSize) {
  for (int i = 0; i < 9; ++i) add(std::to_string(i) + ".png", 8 + i, 8, static_cast<std::uint8_t>(20 * i));
  const PictureSet set(pictures(), classes_, small_);
  ASSERT_TRUE(set.resident());
  ASSERT_EQ(set.size(), 9);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(set.canvas(i)->width, 32);
    EXPECT_EQ(set.canvas(i)->height, 16);
    EXPECT_EQ(set.canvas(i)->pixels[0], 20 * i);
    EXPECT_EQ(set.id(i), std::to_string(i) + ".png");
  }
}

TEST_F(PictureSetTest, WhatDoesNotFitInMemoryIsDecodedEachTimeToTheSamePixels) {
  add("a.png", 40, 30, 77);
  PictureSetOptions tight = small_;
  tight.memory_limit_bytes = 3 * 32 * 16 - 1;
  const PictureSet on_the_fly(pictures(), classes_, tight);
  tight.memory_limit_bytes += 1;
  const PictureSet resident(pictures(), classes_, tight);
  EXPECT_FALSE(on_the_fly.resident());
  EXPECT_TRUE(resident.resident());
  EXPECT_EQ(on_the_fly.canvas(0)->pixels, resident.canvas(0)->pixels);
}

TEST_F(PictureSetTest, BoxesFollowThePictureOntoTheCanvas) {
  add("a.png", 64, 64, 0);
  samples_[0].boxes = {{{8, 16, 24, 64}, "no-mask", false, {}}};
  PictureSetOptions options = small_;
  const PictureSet stretched(pictures(), classes_, options);
  EXPECT_EQ(stretched.truths_in_network(0).at(0).box, (boxes::Box{4, 4, 12, 16}));
  EXPECT_EQ(stretched.truths_in_network(0).at(0).class_index, 1);
  options.mode = image::CanvasMode::kLetterbox;
  const PictureSet boxed(pictures(), classes_, options);
  EXPECT_EQ(boxed.truths_in_network(0).at(0).box, (boxes::Box{2, 4, 6, 16}));
}

TEST_F(PictureSetTest, OtherClassesAreLeftOutUnlessTheyAreToBeIgnored) {
  add("a.png", 32, 16, 0);
  const boxes::Box box{0, 0, 8, 8};
  samples_[0].boxes = {{box, "hat", false, {}}, {box, "DontCare", true, {}}, {box, "mask", false, {}}};
  const PictureSet set(pictures(), classes_, small_);
  ASSERT_EQ(set.truths_in_network(0).size(), 2u);
  EXPECT_EQ(set.truths_in_network(0)[0], (boxes::Truth{box, -1, true}));
  EXPECT_EQ(set.truths_in_network(0)[1].class_index, 0);
}

TEST_F(PictureSetTest, BoxesUnderOnePixelOfTheCanvasAreLeftOut) {
  add("a.png", 320, 160, 0);
  samples_[0].boxes = {{{0, 0, 9, 100}, "mask", false, {}}, {{0, 0, 10, 10}, "mask", false, {}}};
  const PictureSet set(pictures(), classes_, small_);
  ASSERT_EQ(set.truths_in_network(0).size(), 1u);
  EXPECT_EQ(set.truths_in_network(0)[0].box.width(), 1);
}

TEST_F(PictureSetTest, EveryBadPictureIsNamedNotOnlyTheFirst) {
  add("good.png", 8, 8, 0);
  add("missing.png", 8, 8, 0);
  add("torn.png", 8, 8, 0);
  add("changed.png", 8, 8, 0);
  fs::remove(dir_ / "missing.png");
  base::write_file(dir_ / "torn.png", base::read_file(dir_ / "torn.png").substr(0, 30));
  samples_[3].width = 9;
  try {
    const PictureSet set(pictures(), classes_, small_);
    FAIL() << "accepted bad pictures";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    for (const char* part : {"3 of 4", "missing.png", "torn.png", "is 8x8, but the dataset says 9x8"}) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
}

TEST_F(PictureSetTest, OneChannelIsTheLuma) {
  add("a.png", 32, 16, 0);
  image::Image red{32, 16, 3, std::vector<std::uint8_t>(3 * 32 * 16, 0)};
  for (std::size_t i = 0; i < red.pixels.size(); i += 3) red.pixels[i] = 255;
  image::write_image(dir_ / "a.png", red);
  PictureSetOptions options = small_;
  options.channels = 1;
  const PictureSet set(pictures(), classes_, options);
  EXPECT_EQ(set.canvas(0)->channels, 1);
  EXPECT_EQ(set.canvas(0)->pixels, std::vector<std::uint8_t>(32 * 16, 76));
}

TEST_F(PictureSetTest, ProgressEndsAtTheTotal) {
  for (int i = 0; i < 5; ++i) add(std::to_string(i) + ".png", 8, 8, 0);
  PictureSetOptions options = small_;
  std::vector<std::int64_t> seen;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 5);
    seen.push_back(done);
  };
  const PictureSet set(pictures(), classes_, options);
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(ClassMapping, EmptyMapMeansEveryLabelIsItsOwnClass) {
  const ClassMapping classes{{"mask", "no-mask"}, {}};
  EXPECT_EQ(classes.index_of("no-mask"), 1);
  EXPECT_EQ(classes.index_of("No-Mask"), -1) << "class names are compared exactly";
}

TEST(ClassMapping, LabelsThatAreNotNamedAreNoClass) {
  const ClassMapping classes{{"mask", "no-mask"}, {{"with_mask", "mask"}, {"odd", "elsewhere"}}};
  EXPECT_EQ(classes.index_of("with_mask"), 0);
  EXPECT_EQ(classes.index_of("mask"), -1) << "the mapping does not name it";
  EXPECT_EQ(classes.index_of("odd"), -1) << "mapped to a class that the model lacks";
}

TEST(PicturesOf, ChoosesTheSplit) {
  dataset::Dataset data;
  data.root = "/data";
  for (const char* split : {"train", "val", "train"}) {
    data.samples.push_back({});
    data.samples.back().split = split;
    data.samples.back().image = "x.jpg";
  }
  EXPECT_EQ(pictures_of(data, "train").size(), 2u);
  EXPECT_EQ(pictures_of(data, "").size(), 3u);
}

TEST(DefaultMemoryLimit, IsSomething) {
  EXPECT_GT(default_memory_limit(), 1 << 20);
}

}  // namespace
}  // namespace maskfit::loader
