// The byte formats against the test vectors.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/crc32c.h"
#include "formats/kitti.h"
#include "formats/little_endian.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "tests/support/vectors.h"

namespace maskfit::formats {
namespace {

using nlohmann::json;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

Feature feature_of(const json& entry) {
  const auto type = entry.at("type").get<std::string>();
  if (type == "bytes") return entry.at("values").get<BytesList>();
  if (type == "float") return entry.at("values").get<FloatList>();
  return entry.at("values").get<Int64List>();
}

TEST(FormatsVectors, MaskedCrc32c) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("masked_crc32c")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const std::uint32_t crc = crc32c(from_hex(vector["input"]["bytes_hex"]));
    const json& expected = vector["expected"];
    EXPECT_EQ(fmt::format("{:08x}", crc), expected["crc32c"]);
    EXPECT_EQ(fmt::format("{:08x}", mask_crc(crc)), expected["masked"]);
    std::string stored;
    append_le(stored, mask_crc(crc));
    EXPECT_EQ(to_hex(stored), expected["masked_le_bytes_hex"]);
  }
}

TEST(FormatsVectors, TfExample) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("tf_example")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    Example example;
    for (const auto& [key, entry] : vector["input"]["features"].items()) example[key] = feature_of(entry);
    const json& expected = vector["expected"];
    const std::string payload = encode_example(example);
    EXPECT_EQ(payload.size(), expected["payload_len"].get<std::size_t>());
    EXPECT_EQ(to_hex(payload), expected["example_hex_sorted_keys"]);
    std::string record;
    append_record(record, payload);
    EXPECT_EQ(to_hex(record), expected["tfrecord_hex"]);
    EXPECT_EQ(decode_example(payload, "vector"), example);
  }
}

TEST(FormatsVectors, InferLabel) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("infer_label")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    std::vector<std::string> lines;
    for (const json& found : vector["input"]["dets"]) {
      lines.push_back(
          print_kitti_detection(found["class"], found["xyxy"].get<std::array<double, 4>>(), found["conf"]));
    }
    EXPECT_EQ(lines, vector["expected"]["lines"].get<std::vector<std::string>>());
  }
}

}  // namespace
}  // namespace maskfit::formats
