#include "formats/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "formats/crc32c.h"
#include "tests/support/temp_dir.h"

namespace maskfit::formats {
namespace {

using testing::HasSubstr;

std::string three_records() {
  std::string bytes;
  append_record(bytes, "first");
  append_record(bytes, "");
  append_record(bytes, std::string(1000, 'x'));
  return bytes;
}

std::vector<std::string> all(const std::string& bytes, RecordOptions options = {}) {
  RecordReader reader(bytes, "f.tfrecord", options);
  std::vector<std::string> records;
  for (std::string_view payload; reader.next(&payload);) records.emplace_back(payload);
  return records;
}

std::string refusal(const std::string& bytes) {
  try {
    all(bytes);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.where(), "f.tfrecord");
    return error.what();
  }
  return "accepted";
}

TEST(Crc32c, EveryLengthAndAlignmentAgreesWithTheBitwiseDefinition) {
  std::string data;
  for (int i = 0; i < 64; ++i) data += static_cast<char>(i * 37 + 11);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; begin + size <= data.size(); ++size) {
      std::uint32_t crc = 0xFFFFFFFFu;
      for (std::size_t i = begin; i < begin + size; ++i) {
        crc ^= static_cast<unsigned char>(data[i]);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
      }
      ASSERT_EQ(crc32c(std::string_view(data).substr(begin, size)), crc ^ 0xFFFFFFFFu)
          << begin << "+" << size;
    }
  }
}

TEST(TfRecord, RoundTrip) {
  EXPECT_THAT(all(three_records()), testing::ElementsAre("first", "", std::string(1000, 'x')));
}

TEST(TfRecord, BytesAreThoseOfTheFormatPage) {
  std::string bytes;
  append_record(bytes, "mask");
  std::string shown;
  for (const char byte : bytes) shown += fmt::format("{:02x} ", static_cast<unsigned char>(byte));
  EXPECT_EQ(shown, "04 00 00 00 00 00 00 00 42 45 52 04 6d 61 73 6b 84 13 68 4e ");
}

TEST(TfRecord, EmptyFileHoldsNoRecords) {
  EXPECT_TRUE(all("").empty());
}

TEST(TfRecord, FileIsReadFromDisk) {
  support::TempDir folder;
  base::write_file(folder / "f", three_records());
  EXPECT_EQ(read_records(folder / "f").size(), 3u);
}

TEST(TfRecord, EveryFlippedBitIsNoticed) {
  const std::string good = three_records();
  for (std::size_t i = 0; i < 60; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    EXPECT_NE(refusal(bad), "accepted") << "byte " << i;
  }
}

TEST(TfRecord, EveryTruncationIsReportedWithTheOffsetOfItsRecord) {
  const std::string good = three_records();
  const std::size_t starts[] = {0, 21, 37, good.size()};
  for (std::size_t size = 1; size < good.size(); ++size) {
    if (size == starts[1] || size == starts[2]) continue;
    const std::size_t start = size > starts[2] ? starts[2] : size > starts[1] ? starts[1] : 0;
    EXPECT_THAT(refusal(good.substr(0, size)),
                HasSubstr(fmt::format("the record at byte {} is cut off", start)));
  }
}

TEST(TfRecord, LengthNearTheTopOf64BitsDoesNotWrapAround) {
  std::string bytes(16, '\xFF');
  EXPECT_THAT(refusal(bytes), HasSubstr("CRC differs"));
  EXPECT_THROW(all(bytes, {.verify_crc = false}), base::Error);
}

TEST(TfRecord, TornTailMayEndTheFileButDamageMayNot) {
  const std::string good = three_records();
  EXPECT_EQ(all(good.substr(0, good.size() - 1), {.stop_at_torn_tail = true}).size(), 2u);
  std::string bad = good;
  bad[14] = 'F';
  EXPECT_THROW(all(bad, {.stop_at_torn_tail = true}), base::Error);
}

TEST(TfRecord, CrcCheckCanBeSkipped) {
  std::string bad = three_records();
  bad[14] = 'F';
  EXPECT_EQ(all(bad, {.verify_crc = false})[0], "fiFst");
}

TEST(TfRecord, JpegIsNotTakenForARecordFile) {
  EXPECT_THAT(refusal("\xFF\xD8\xFF\xE0 a picture, not records"), HasSubstr("not a TFRecord file"));
}

}  // namespace
}  // namespace maskfit::formats
