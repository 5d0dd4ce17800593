#include "deploy/result_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::deploy {
namespace {
namespace fs = std::filesystem;

const std::vector<std::string> kClasses = {"mask", "no-mask"};

image::Image grey(int width, int height) {
  return {width, height, 3, std::vector<std::uint8_t>(3u * width * height, 100)};
}

boxes::Detections two() {
  return {{{10, 20.5f, 30, 40}, 1, 0.91666f}, {{1, 2, 3, 4}, 0, 1.5f}};
}

TEST(ResultWriter, KittiLineHasSixteenFieldsAndThreeDecimals) {
  EXPECT_EQ(kitti_text(two(), kClasses),
            "no-mask 0.00 0 0.00 10.000 20.500 30.000 40.000 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.917\n"
            "mask 0.00 0 0.00 1.000 2.000 3.000 4.000 0.00 0.00 0.00 0.00 0.00 0.00 0.00 1.500\n");
}

TEST(ResultWriter, PictureWithoutDetectionsStillGetsItsFiles) {
  support::TempDir dir;
  ResultWriter writer(dir.path(), kClasses, {});
  writer.add({"in/a.jpg", "a.jpg"}, grey(64, 48), {});
  writer.finish();
  EXPECT_EQ(base::read_file(dir / "labels/a.txt"), "");
  EXPECT_TRUE(fs::exists(dir / "images_annotated/a.jpg"));
  const auto json = nlohmann::json::parse(base::read_file(dir / "detections.json"));
  EXPECT_EQ(json.at(0).at("detections").size(), 0u);
  EXPECT_EQ(json.at(0).at("width"), 64);
}

TEST(ResultWriter, JsonHoldsEveryPictureInOrder) {
  support::TempDir dir;
  ResultWriter writer(dir.path(), kClasses, {.annotated = false, .kitti = false});
  writer.add({"b.jpg", "b.jpg"}, grey(64, 48), two());
  writer.add({"a\xff.jpg", "a.jpg"}, grey(64, 48), {});
  writer.finish();
  const auto json = nlohmann::json::parse(base::read_file(dir / "detections.json"));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["image"], "b.jpg");
  EXPECT_EQ(json[0]["detections"][0]["class"], "no-mask");
  EXPECT_EQ(json[0]["detections"][0]["box"][1], 20.5);
  EXPECT_FALSE(fs::exists(dir / "labels"));
  EXPECT_FALSE(fs::exists(dir / "images_annotated"));
}

TEST(ResultWriter, KindsThatCannotBeWrittenBecomePng) {
  support::TempDir dir;
  ResultWriter writer(dir.path(), kClasses, {.kitti = false, .json = false});
  writer.add({"a.webp", "a.webp"}, grey(32, 32), two());
  EXPECT_TRUE(fs::exists(dir / "images_annotated/a.png"));
}

TEST(ResultWriter, AnnotationChangesACopy) {
  const image::Image picture = grey(64, 64);
  const image::Image drawn = annotate(picture, two(), kClasses, 2);
  EXPECT_EQ(picture.pixels, grey(64, 64).pixels);
  EXPECT_NE(drawn.pixels, picture.pixels);
}

}  // namespace
}  // namespace maskfit::deploy
