// Pictures as they are found: turned by EXIF, cut short, misnamed.

#include "tests/support/import_fixture.h"

namespace maskfit::dataset {
namespace {

using testing::HasSubstr;

class ImportPicturesTest : public ImportTest {
 protected:
  // A JPEG of this stored size that says how it is to be turned.
  void turned(const std::string& name, int orientation, int stored_width, int stored_height) {
    const image::Image grey{
        stored_width, stored_height, 3,
        std::vector<std::uint8_t>(static_cast<std::size_t>(stored_width * stored_height * 3), 90)};
    std::string tiff("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0", 26);
    tiff[18] = static_cast<char>(orientation);
    const std::string segment = std::string("Exif\0\0", 6) + tiff;
    const std::string jpeg = image::encode_jpeg(grey);
    file(name, jpeg.substr(0, 2) + "\xFF\xE1" + std::string(1, '\0') + static_cast<char>(segment.size() + 2) +
                   segment + jpeg.substr(2));
  }
};

// Report R10: eight cameras, one upright scene of 100 x 80 and one label drawn on it.
TEST_F(ImportPicturesTest, AllEightExifOrientationsGiveTheSameBoxes) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const bool quarter = orientation >= 5;
    turned(fmt::format("{}.jpg", orientation), orientation, quarter ? 80 : 100, quarter ? 100 : 80);
    voc(fmt::format("{}.xml", orientation), "mask");
  }
  const auto result = import();
  ASSERT_EQ(result.dataset.samples.size(), 8u);
  for (const Sample& sample : result.dataset.samples) {
    EXPECT_EQ(sample.width, 100) << sample.id;
    EXPECT_EQ(sample.height, 80) << sample.id;
    EXPECT_EQ(sample.boxes.at(0).box_in_image, (Box{10, 20, 30, 40})) << sample.id;
  }
  EXPECT_EQ(told(result, "1.jpg"), "");
  EXPECT_THAT(told(result, "6.jpg"), HasSubstr("EXIF orientation 6"));
}

TEST_F(ImportPicturesTest, AMalformedExifOrientationCountsAsUprightAndIsTold) {
  turned("a.jpg", 42, 100, 80);
  voc("a.xml", "mask");
  const auto result = import();
  EXPECT_EQ(result.dataset.samples[0].boxes.at(0).box_in_image, (Box{10, 20, 30, 40}));
  EXPECT_THAT(told(result, "a.jpg"), HasSubstr("42"));
}

// Report R11: each ends in a defined state, with its name.
TEST_F(ImportPicturesTest, DamagedAndUnusualFilesEndInADefinedState) {
  picture("good.jpg");
  const std::string jpeg = base::read_file(folder_ / "good.jpg");
  file("cut.jpg", jpeg.substr(0, jpeg.size() * 6 / 10));
  file("behind.jpg", jpeg + std::string(20, 'x'));
  picture("tmp.png");
  fs::rename(folder_ / "tmp.png", folder_ / "png.jpg");
  file("zero.jpg", "");
  file("moving.gif", std::string("GIF89a\x01\0\x01\0\0\0\0;", 14));
  fs::copy_file(folder_ / "good.jpg", folder_ / "hidden.txt");
  picture("dot.jpg", 1, 1);
  file("grey.jpg", image::encode_jpeg({40, 30, 1, std::vector<std::uint8_t>(1200, 90)}));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"good.jpg", "used"},       {"cut.jpg", "refused"},  {"behind.jpg", "repaired"},
      {"png.jpg", "repaired"},    {"zero.jpg", "refused"}, {"moving.gif", "refused"},
      {"hidden.txt", "repaired"}, {"dot.jpg", "used"},     {"grey.jpg", "used"}};
  for (const auto& [name, state] : expected) {
    file(fs::path(name).replace_extension(".xml").string(), "<annotation/>");
  }
  const auto result = import();
  for (const auto& [name, state] : expected)
    EXPECT_EQ(outcome(result, name), state) << name << told(result, name);
  EXPECT_EQ(result.dataset.samples.size(), 6u);
}

TEST_F(ImportPicturesTest, YoloBoxesOfATurnedPictureAreTakenOnTheUprightOneWithAWarning) {
  turned("a.jpg", 6, 80, 100);
  file("a.txt", "0 0.2 0.375 0.2 0.25\n");
  file("classes.txt", "mask\n");
  const auto result = import();
  EXPECT_EQ(result.dataset.samples[0].boxes.at(0).box_in_image, (Box{10, 20, 30, 40}));
  EXPECT_THAT(told(result, "a.txt"), HasSubstr("before or after turning"));
}

}  // namespace
}  // namespace maskfit::dataset
