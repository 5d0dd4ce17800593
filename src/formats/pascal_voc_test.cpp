#include "formats/pascal_voc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::formats {
namespace {

using testing::HasSubstr;

std::string annotation(const std::string& inside) {
  return "<annotation>\n" + inside + "\n</annotation>\n";
}
std::string object(const std::string& box, const std::string& name = "mask") {
  return "<object><name>" + name + "</name>" + box + "</object>";
}
constexpr const char* kBox = "<bndbox><xmin>10</xmin><ymin>20</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>";

struct Parsed {
  std::optional<VocAnnotation> annotation;
  base::Findings findings;
};
Parsed parse(const std::string& text, VocPixels pixels = VocPixels::kAuto) {
  Parsed parsed;
  parsed.annotation = parse_pascal_voc(text, "a.xml", &parsed.findings, pixels);
  return parsed;
}

std::string refusal(const std::string& text) {
  const Parsed parsed = parse(text);
  return parsed.findings.empty() ? "accepted" : base::to_string(parsed.findings.back());
}

TEST(PascalVoc, EverythingThatIsStatedIsRead) {
  const auto parsed = parse(R"(<?xml version="1.0"?>
<annotation>
  <folder>images</folder><filename>a.jpg</filename>
  <source><database>Unknown</database></source>
  <size><width>640</width><height>480</height><depth>3</depth></size>
  <object>
    <name>mask</name><truncated>1</truncated><occluded>0</occluded><difficult>1</difficult>
    <bndbox><xmin>10</xmin><ymin>20</ymin><xmax>30.50</xmax><ymax>40</ymax></bndbox>
  </object>
</annotation>)");
  ASSERT_TRUE(parsed.annotation);
  EXPECT_TRUE(parsed.findings.empty());
  EXPECT_EQ(parsed.annotation->filename, "a.jpg");
  EXPECT_EQ(parsed.annotation->width, 640);
  EXPECT_EQ(parsed.annotation->height, 480);
  ASSERT_EQ(parsed.annotation->objects.size(), 1u);
  const VocObject& first = parsed.annotation->objects[0];
  EXPECT_EQ(first.class_name, "mask");
  EXPECT_EQ(first.box_in_image, (boxes::Box{10, 20, 30.5f, 40}));
  EXPECT_TRUE(first.difficult);
  EXPECT_TRUE(first.truncated);
  EXPECT_FALSE(first.occluded);
  EXPECT_EQ(first.line, 6);
}

TEST(PascalVoc, OriginalVocDatabaseCountsPixelsFromOne) {
  const std::string database = "<source><database>The VOC2007 Database</database></source>";
  EXPECT_EQ(parse(annotation(database + object(kBox))).annotation->objects[0].box_in_image,
            (boxes::Box{9, 19, 30, 40}));
  EXPECT_EQ(parse(annotation(database + object(kBox)), VocPixels::kEdges).annotation->objects[0].box_in_image,
            (boxes::Box{10, 20, 30, 40}));
  EXPECT_EQ(
      parse(annotation(object(kBox)), VocPixels::kOneBasedInclusive).annotation->objects[0].box_in_image,
      (boxes::Box{9, 19, 30, 40}));
}

TEST(PascalVoc, OtherSpellingsMeanTheSame) {
  for (const char* box :
       {"<bndBox><xMin>10</xMin><yMin>20</yMin><xMax>30</xMax><yMax>40</yMax></bndBox>",
        "<bounding_box><x_min>10</x_min><y_min>20</y_min><x_max>30</x_max><y_max>40</y_max></bounding_box>",
        "<bbox><left>10</left><top>20</top><right>30</right><bottom>40</bottom></bbox>",
        "<box><x1> 10 </x1><y1>20.0</y1><x2>3e1</x2><y2>+40</y2></box>",
        "<bndbox><ymax>40</ymax><xmax>30</xmax><ymin>20</ymin><xmin>10</xmin></bndbox>"}) {
    const auto parsed = parse(annotation(object(box)));
    ASSERT_EQ(parsed.annotation->objects.size(), 1u) << box;
    EXPECT_EQ(parsed.annotation->objects[0].box_in_image, (boxes::Box{10, 20, 30, 40})) << box;
  }
  EXPECT_EQ(parse(annotation("<Object><label>mask</label>" + std::string(kBox) + "</Object>"))
                .annotation->objects.size(),
            1u);
}

TEST(PascalVoc, MissingOrAbsurdSizeCountsAsNotStated) {
  for (const char* size : {"", "<size/>", "<size><width>0</width><height>0</height></size>",
                           "<size><width>wide</width><height>-3</height></size>",
                           "<size><width>1e30</width><height>2.5</height></size>"}) {
    const auto parsed = parse(annotation(size + object(kBox)));
    EXPECT_EQ(parsed.annotation->width, 0) << size;
    EXPECT_EQ(parsed.annotation->height, 0) << size;
    EXPECT_EQ(parsed.annotation->objects.size(), 1u);
  }
}

TEST(PascalVoc, NoObjectIsAPictureWithoutObjects) {
  const auto parsed = parse(annotation("<filename>a.jpg</filename>"));
  ASSERT_TRUE(parsed.annotation);
  EXPECT_TRUE(parsed.annotation->objects.empty());
  EXPECT_TRUE(parsed.findings.empty());
}

TEST(PascalVocRefuses, FileThatIsNoXmlWithTheLine) {
  const Parsed parsed = parse("<annotation>\n<object>\n</annotation>");
  EXPECT_FALSE(parsed.annotation);
  ASSERT_EQ(parsed.findings.size(), 1u);
  EXPECT_EQ(parsed.findings[0].line, 3);
  EXPECT_THAT(parsed.findings[0].what, HasSubstr("not XML"));
  EXPECT_THAT(refusal(""), HasSubstr("not XML"));
}

TEST(PascalVocRefuses, OtherXml) {
  EXPECT_THAT(refusal("<svg></svg>"), HasSubstr("root element is <svg>"));
}

TEST(PascalVocRefuses, ObjectsThatCannotBeReadAndKeepsTheOthers) {
  const Parsed parsed = parse(
      annotation("<object><name>mask</name></object>\n"
                 "<object>" +
                 std::string(kBox) + "</object>\n" +
                 object("<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax></bndbox>") + "\n" +
                 object("<bndbox>\n<xmin>1,5</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>") +
                 object(kBox)));
  ASSERT_TRUE(parsed.annotation);
  EXPECT_EQ(parsed.annotation->objects.size(), 1u);
  ASSERT_EQ(parsed.findings.size(), 4u);
  EXPECT_EQ(base::to_string(parsed.findings[0]),
            "a.xml:2: bndbox: the object 'mask' has no box; draw its box, or delete the object");
  EXPECT_THAT(base::to_string(parsed.findings[1]), HasSubstr("a.xml:3: name: the object has no class"));
  EXPECT_THAT(base::to_string(parsed.findings[2]),
              HasSubstr("a.xml:4: ymax: the box has no such coordinate"));
  EXPECT_THAT(base::to_string(parsed.findings[3]),
              HasSubstr("a.xml:6: xmin: '1,5' is not a number; write numbers with"));
}

TEST(PascalVocRefuses, CoordinatesThatAreNotFinite) {
  EXPECT_THAT(refusal(annotation(
                  object("<bndbox><xmin>nan</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>"))),
              HasSubstr("xmin: 'nan'"));
}

}  // namespace
}  // namespace maskfit::formats
