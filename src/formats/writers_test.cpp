// What the writers of label formats write, and that the readers understand it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "formats/coco_writer.h"
#include "formats/pascal_voc.h"
#include "formats/pascal_voc_writer.h"
#include "formats/yolo_writer.h"

namespace maskfit::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PascalVocWriter, ReadsBackTheSame) {
  VocAnnotation written;
  written.filename = "caf\xC3\xA9 & <1>.jpg";
  written.width = 640;
  written.height = 480;
  written.objects.push_back({"mask", {10, 20.5f, 110.1f, 140}, false, true, false, 0});
  written.objects.push_back({"worn wrong", {0, 0, 0.3333333f, 1e-3f}, true, false, true, 0});
  base::Findings findings;
  const auto read = parse_pascal_voc(print_pascal_voc(written), "a.xml", &findings);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(read->filename, written.filename);
  EXPECT_EQ(read->width, 640);
  ASSERT_EQ(read->objects.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->objects[i].class_name, written.objects[i].class_name);
    EXPECT_EQ(read->objects[i].box_in_image, written.objects[i].box_in_image);
    EXPECT_EQ(read->objects[i].difficult, written.objects[i].difficult);
    EXPECT_EQ(read->objects[i].truncated, written.objects[i].truncated);
    EXPECT_EQ(read->objects[i].occluded, written.objects[i].occluded);
  }
}

TEST(PascalVocWriter, PictureWithoutObjectsIsStillAnAnnotation) {
  VocAnnotation written;
  written.width = written.height = 8;
  base::Findings findings;
  const auto read = parse_pascal_voc(print_pascal_voc(written), "a.xml", &findings);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->objects.empty());
}

TEST(YoloWriter, BoxIsCentreAndSizeAsFractions) {
  EXPECT_EQ(print_yolo_box(1, {10, 20, 30, 60}, 100, 200),
            "1 0.2000000000 0.2000000000 0.2000000000 0.2000000000");
}

TEST(YoloWriter, WholePixelsReadBackWithinRounding) {
  for (int width : {37, 640, 1023, 6000}) {
    for (int x = 0; x + 1 < width; x += 7) {
      const boxes::Box box{static_cast<float>(x), 0, static_cast<float>(x + 1), 1};
      const auto words = base::split_words(print_yolo_box(0, box, width, 1));
      const double center = std::stod(words[1]) * width, half = std::stod(words[3]) * width / 2;
      EXPECT_NEAR(center - half, x, 1e-6);
      EXPECT_NEAR(center + half, x + 1, 1e-6);
    }
  }
}

TEST(YoloWriter, TinyFractionsHaveNoExponent) {
  EXPECT_THAT(print_yolo_box(0, {0, 0, 1e-4f, 1e-4f}, 8000, 8000), testing::Not(HasSubstr("e")));
}

TEST(YoloWriter, DataFileNamesFoldersAndClassesInOrder) {
  EXPECT_EQ(
      print_yolo_data({{"train", "images/train"}, {"val", "images/val"}}, {"no-mask", "a \"b\": c"}),
      "train: images/train\nval: images/val\nnc: 2\nnames:\n  0: \"no-mask\"\n  1: \"a \\\"b\\\": c\"\n");
}

TEST(CocoWriter, FileHasWhatTheFormatAsksFor) {
  CocoWriter writer({"no-mask", "mask"});
  writer.add_image("caf\xC3\xA9 \"1\".jpg", 640, 480);
  writer.add_box(1, {10.9f, 5, 11.1f, 14}, false);
  writer.add_image("b.jpg", 8, 9);
  writer.add_image("c.jpg", 10, 11);
  writer.add_box(0, {1, 2, 3, 5}, true);
  const auto json = nlohmann::json::parse(writer.text());
  ASSERT_EQ(json["images"].size(), 3u);
  EXPECT_EQ(json["images"][0]["file_name"], "caf\xC3\xA9 \"1\".jpg");
  EXPECT_EQ(json["images"][2]["id"], 3);
  ASSERT_EQ(json["annotations"].size(), 2u);
  EXPECT_EQ(json["annotations"][1]["image_id"], 3);
  EXPECT_EQ(json["annotations"][1]["category_id"], 1);
  EXPECT_EQ(json["annotations"][1]["iscrowd"], 1);
  EXPECT_EQ(json["annotations"][1]["area"], 6);
  EXPECT_THAT(json["annotations"][1]["bbox"].get<std::vector<double>>(), ElementsAre(1, 2, 2, 3));
  EXPECT_EQ(json["categories"][0]["name"], "no-mask");
  const auto bbox = json["annotations"][0]["bbox"].get<std::vector<double>>();
  EXPECT_EQ(static_cast<float>(bbox[0]), 10.9f);
  EXPECT_EQ(static_cast<float>(static_cast<double>(10.9f) + bbox[2]), 11.1f);
}

TEST(CocoWriter, NothingIsAFileWithEmptyLists) {
  const auto json = nlohmann::json::parse(CocoWriter({"mask"}).text());
  EXPECT_TRUE(json["images"].empty());
  EXPECT_TRUE(json["annotations"].empty());
}

}  // namespace
}  // namespace maskfit::formats
