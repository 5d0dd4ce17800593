#include "image/exif.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::image {
namespace {

// The smallest TIFF block with one directory entry: tag, type, value; little or big endian.
std::string tiff(bool big, int tag, int type, unsigned value, int entries = 1) {
  std::string bytes = big ? "MM" : "II";
  const auto put = [&](unsigned number, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> 8 * (big ? size - 1 - i : i) & 0xFF);
  };
  put(42, 2);
  put(8, 4);
  put(static_cast<unsigned>(entries), 2);
  put(static_cast<unsigned>(tag), 2);
  put(static_cast<unsigned>(type), 2);
  put(1, 4);
  put(value, type == 3 ? 2 : 4);
  if (type == 3) put(0, 2);
  put(0, 4);
  return bytes;
}

int orientation(const std::string& block, std::string* note = nullptr) {
  std::string own;
  return exif_orientation(block, note != nullptr ? note : &own);
}

TEST(ExifOrientation, IsReadInBothByteOrdersWithAndWithoutThePrefix) {
  for (int value = 1; value <= 8; ++value) {
    for (const bool big : {false, true}) {
      const std::string block = tiff(big, 0x0112, 3, static_cast<unsigned>(value));
      EXPECT_EQ(orientation(block), value);
      EXPECT_EQ(orientation(std::string("Exif\0\0", 6) + block), value);
    }
  }
}

TEST(ExifOrientation, OtherTagsMeanUprightWithoutANote) {
  std::string note;
  EXPECT_EQ(orientation(tiff(false, 0x010F, 3, 6), &note), 1);
  EXPECT_EQ(note, "");
}

TEST(ExifOrientation, ALongIsTakenForAShort) {
  EXPECT_EQ(orientation(tiff(true, 0x0112, 4, 6)), 6);
}

TEST(ExifOrientation, ValuesOutsideOneToEightCountAsUprightAndAreNoted) {
  for (const unsigned value : {0u, 9u, 255u, 60000u}) {
    std::string note;
    EXPECT_EQ(orientation(tiff(false, 0x0112, 3, value), &note), 1);
    EXPECT_NE(note.find(std::to_string(value)), std::string::npos) << note;
  }
}

TEST(ExifOrientation, AWrongFieldTypeCountsAsUprightAndIsNoted) {
  std::string note;
  EXPECT_EQ(orientation(tiff(false, 0x0112, 5, 6), &note), 1);
  EXPECT_NE(note.find("type 5"), std::string::npos) << note;
}

TEST(ExifOrientation, EveryCutOfTheBlockIsSurvived) {
  const std::string block =
      std::string("Exif\0\0", 6) + tiff(true, 0x010F, 3, 6, 40) + tiff(true, 0x0112, 3, 6);
  for (std::size_t length = 0; length < block.size(); ++length) {
    EXPECT_EQ(orientation(block.substr(0, length)), 1) << length;
  }
}

TEST(ExifOrientation, ADirectoryBehindTheEndIsNoted) {
  std::string block = tiff(false, 0x0112, 3, 6);
  block[4] = '\xFF';
  block[7] = '\xFF';
  std::string note;
  EXPECT_EQ(orientation(block, &note), 1);
  EXPECT_NE(note, "");
}

// A 3 x 2 picture whose pixels are numbered as the upright picture shows them:
//   1 2 3
//   4 5 6
// and how a camera stores it for each orientation (EXIF 2.3, figure "Orientation").
TEST(TurnUpright, UndoesAllEightOrientations) {
  const std::vector<std::uint8_t> upright{1, 2, 3, 4, 5, 6};
  const struct {
    int orientation, width, height;
    std::vector<std::uint8_t> stored;
  } cases[] = {
      {1, 3, 2, {1, 2, 3, 4, 5, 6}}, {2, 3, 2, {3, 2, 1, 6, 5, 4}}, {3, 3, 2, {6, 5, 4, 3, 2, 1}},
      {4, 3, 2, {4, 5, 6, 1, 2, 3}}, {5, 2, 3, {1, 4, 2, 5, 3, 6}}, {6, 2, 3, {3, 6, 2, 5, 1, 4}},
      {7, 2, 3, {6, 3, 5, 2, 4, 1}}, {8, 2, 3, {4, 1, 5, 2, 6, 3}},
  };
  for (const auto& c : cases) {
    const Image turned = turn_upright({c.width, c.height, 1, c.stored}, c.orientation);
    EXPECT_EQ(turned.width, 3) << c.orientation;
    EXPECT_EQ(turned.height, 2) << c.orientation;
    EXPECT_EQ(turned.pixels, upright) << "orientation " << c.orientation;
    EXPECT_EQ(upright_size({c.width, c.height}, c.orientation), (Size{3, 2}));
  }
}

TEST(TurnUpright, ColoursStayTogether) {
  const Image turned = turn_upright({2, 1, 3, {1, 2, 3, 4, 5, 6}}, 2);
  EXPECT_EQ(turned.pixels, (std::vector<std::uint8_t>{4, 5, 6, 1, 2, 3}));
}

TEST(TurnUpright, AnOrientationOutsideTheRangeIsOurMistake) {
  EXPECT_THROW(turn_upright({1, 1, 1, {0}}, 0), base::CheckFailed);
  EXPECT_THROW(turn_upright({1, 1, 1, {0}}, 9), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::image
