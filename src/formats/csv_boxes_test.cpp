#include "formats/csv_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::formats {
namespace {

using boxes::Box;
using testing::HasSubstr;
using testing::SizeIs;

TEST(CsvBoxes, LinesOfOnePictureAreItsObjects) {
  base::Findings findings;
  const auto images = parse_csv_boxes(
      "filename,width,height,class,xmin,ymin,xmax,ymax\r\n"
      "b.jpg,640,480,mask,10,20,30.5,40\r\n"
      "a.jpg,100,80,no-mask,1,2,3,4\r\n"
      "b.jpg,640,480,no-mask,50,60,70,80\r\n",
      "f.csv", &findings);
  EXPECT_THAT(findings, SizeIs(0));
  ASSERT_THAT(images, SizeIs(2));
  EXPECT_EQ(images[0].file_name, "b.jpg");
  EXPECT_EQ(images[0].width, 640);
  ASSERT_THAT(images[0].objects, SizeIs(2));
  EXPECT_EQ(images[0].objects[0].box_in_image, (Box{10, 20, 30.5, 40}));
  EXPECT_EQ(images[0].objects[1].class_name, "no-mask");
  EXPECT_EQ(images[0].objects[1].line, 4);
}

TEST(CsvBoxes, ColumnsComeInAnyOrderUnderOtherNamesAndQuoted) {
  base::Findings findings;
  const auto images = parse_csv_boxes(
      "\xEF\xBB\xBFlabel,x1,y1,x2,y2,source,image_path\n\"a, \"\"b\"\"\",1,2,3,4,web,\"dir/one, two.jpg\"\n",
      "f.csv", &findings);
  ASSERT_THAT(images, SizeIs(1));
  EXPECT_EQ(images[0].file_name, "dir/one, two.jpg");
  EXPECT_EQ(images[0].objects.at(0).class_name, "a, \"b\"");
  EXPECT_EQ(images[0].width, 0);
}

TEST(CsvBoxes, ALineWithoutClassAndBoxIsAPictureWithoutObjects) {
  base::Findings findings;
  const auto images =
      parse_csv_boxes("filename,class,xmin,ymin,xmax,ymax\nempty.jpg,,,,,\n", "f.csv", &findings);
  ASSERT_THAT(images, SizeIs(1));
  EXPECT_THAT(images[0].objects, SizeIs(0));
  EXPECT_THAT(findings, SizeIs(0));
}

TEST(CsvBoxes, LinesThatCannotBeReadAreNamed) {
  base::Findings findings;
  const auto images = parse_csv_boxes(
      "filename,class,xmin,ymin,xmax,ymax\na.jpg,mask,1,2,3\na.jpg,mask,1,2,nan,4\n,mask,1,2,3,4\na.jpg,,1,2,"
      "3,4\n",
      "f.csv", &findings);
  ASSERT_THAT(findings, SizeIs(4));
  EXPECT_EQ(findings[0].line, 2);
  EXPECT_THAT(findings[1].what, HasSubstr("nan"));
  EXPECT_EQ(findings[2].field, "filename");
  EXPECT_EQ(findings[3].field, "class");
  ASSERT_THAT(images, SizeIs(1));
  EXPECT_THAT(images[0].objects, SizeIs(0));
}

TEST(CsvBoxes, OtherTextIsNone) {
  EXPECT_FALSE(is_csv_boxes_text("name,size\na,1\n"));
  EXPECT_FALSE(is_csv_boxes_text(""));
  EXPECT_FALSE(is_csv_boxes_text(std::string(100'000, ',')));
  EXPECT_TRUE(is_csv_boxes_text("\n filename , class ,xmin,ymin,xmax,ymax,confidence"));
  base::Findings findings;
  EXPECT_THROW(parse_csv_boxes("a,b\n", "f", &findings), base::Error);
}

}  // namespace
}  // namespace maskfit::formats
