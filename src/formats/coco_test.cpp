#include "formats/coco.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/labelme.h"

namespace maskfit::formats {
namespace {

using testing::HasSubstr;

std::string coco(const std::string& annotations, const std::string& extra_categories = "") {
  return R"({"info": {}, "images": [{"id": 10, "file_name": "x/a.jpg", "width": 640.0, "height": "480"}],
    "categories": [{"id": 3, "name": "mask"}, {"id": 90, "name": "no-mask"})" +
         extra_categories + R"(], "annotations": [)" + annotations + "]}";
}

TEST(Coco, NamesBoxesAndSizes) {
  base::Findings findings;
  const auto images =
      parse_coco(coco(R"({"id": 1, "image_id": 10, "category_id": 90, "bbox": [10, 20, 30.5, 40]},
                         {"id": 2, "image_id": "10", "category_id": "3", "segmentation": [[1, 2, 9, 4, 5, 8]]},
                         {"id": 3, "image_id": 10, "category_id": 3, "bbox": [1, 2, 3, 4], "iscrowd": 1})"),
                 "f", &findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].file_name, "x/a.jpg");
  EXPECT_EQ(images[0].width, 640);
  EXPECT_EQ(images[0].height, 480);
  ASSERT_EQ(images[0].objects.size(), 3u);
  EXPECT_EQ(images[0].objects[0].class_name, "no-mask");
  EXPECT_EQ(images[0].objects[0].box_in_image, (boxes::Box{10, 20, 40.5f, 60}));
  EXPECT_EQ(images[0].objects[1].box_in_image, (boxes::Box{1, 2, 9, 8}));
  EXPECT_TRUE(images[0].objects[2].crowd);
}

TEST(Coco, OneNumberForTwoNamesRefusesItsBoxes) {
  base::Findings findings;
  const auto images = parse_coco(coco(R"({"id": 1, "image_id": 10, "category_id": 3, "bbox": [1, 2, 3, 4]})",
                                      R"(, {"id": 3, "name": "helmet"})"),
                                 "f", &findings);
  EXPECT_TRUE(images[0].objects.empty());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_THAT(findings[0].what, HasSubstr("category id 3 is 'mask' and 'helmet'"));
  EXPECT_THAT(findings[1].what, HasSubstr("which the file has twice"));
}

TEST(Coco, RepeatedAndBoxlessAnnotationsAreLeftOut) {
  base::Findings findings;
  const std::string box = R"({"id": 1, "image_id": 10, "category_id": 3, "bbox": [1, 2, 3, 4]})";
  const auto images = parse_coco(
      coco(box + "," + box + R"(, {"id": 2, "image_id": 10, "category_id": 3, "bbox": [1, 2, null, 4]}, 7)"),
      "f", &findings);
  EXPECT_EQ(images[0].objects.size(), 1u);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_THAT(findings[0].what, HasSubstr("repeats"));
  EXPECT_EQ(findings[1].line, 3);
  EXPECT_THAT(findings[2].what, HasSubstr("no object"));
}

TEST(Coco, BrokenJsonIsRefusedWithLineAndColumn) {
  base::Findings findings;
  try {
    parse_coco("{\"images\": [\n  }", "f.json", &findings);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.where(), "f.json:2:3");
  }
  EXPECT_THROW(parse_coco("[]", "f", &findings), base::Error);
  EXPECT_THROW(parse_coco("", "f", &findings), base::Error);
  EXPECT_THROW(parse_coco("{\"images\": 1e999}", "f", &findings), base::Error);
}

TEST(Labelme, ShapesBecomeBoxes) {
  base::Findings findings;
  const auto read = parse_labelme(
      R"({"imagePath": "..\\a.jpg", "imageWidth": 100, "imageHeight": 80, "shapes": [
      {"label": "mask", "shape_type": "rectangle", "points": [[30, 40], [10, 20.5]]},
      {"label": "mask", "points": [[1, 2], [9, 2], [5, 8]]},
      {"label": "mask", "shape_type": "circle", "points": [[50, 50], [53, 54]]},
      {"label": "mask", "shape_type": "point", "points": [[1, 2]]},
      {"label": "", "shape_type": "rectangle", "points": [[1, 2], [3, 4]]}]})",
      "f", &findings);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->width, 100);
  ASSERT_EQ(read->shapes.size(), 3u);
  EXPECT_EQ(read->shapes[0].box_in_image, (boxes::Box{10, 20.5f, 30, 40}));
  EXPECT_EQ(read->shapes[1].box_in_image, (boxes::Box{1, 2, 9, 8}));
  EXPECT_EQ(read->shapes[2].box_in_image, (boxes::Box{45, 45, 55, 55}));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].line, 4);
  EXPECT_THAT(findings[0].what, HasSubstr("a point is no box"));
  EXPECT_FALSE(parse_labelme("{", "f", &findings));
  EXPECT_FALSE(parse_labelme("{\"shapes\": 3}", "f", &findings));
}

}  // namespace
}  // namespace maskfit::formats
