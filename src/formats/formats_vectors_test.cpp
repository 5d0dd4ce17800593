// The byte formats against the test vectors.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/calibration_cache.h"
#include "formats/crc32c.h"
#include "formats/kitti.h"
#include "formats/little_endian.h"
#include "formats/tensorfile.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "tests/support/temp_dir.h"
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

TEST(FormatsVectors, CalibrationCache) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("calib_cache")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& expected = vector["expected"];
    if (vector["input"].contains("hex")) {
      const std::string line =
          "TRT-8503-EntropyCalibration2\nprob: " + vector["input"]["hex"].get<std::string>();
      const float scale = parse_calibration_cache(line, "vector").scales.at(0).second;
      EXPECT_NEAR(scale, support::number(expected["scale"]), vector["abs_tol"]);
      EXPECT_NEAR(scale * 127.0, support::number(expected["dynamic_range"]),
                  127 * vector["abs_tol"].get<double>());
      continue;
    }
    const float scale = scale_of_range(static_cast<float>(support::number(vector["input"]["dynamic_range"])));
    EXPECT_EQ(scale, static_cast<float>(support::number(expected["scale"])));
    const CalibrationCache cache{8503, "EntropyCalibration2", {{vector["input"]["tensor"], scale}}};
    EXPECT_EQ(print_calibration_cache(cache),
              "TRT-8503-EntropyCalibration2\n" + expected["line"].get<std::string>() + "\n");
  }
}

TEST(FormatsVectors, Tensorfile) {
  MASKFIT_REQUIRE_VECTORS();
  const support::TempDir folder;
  for (const json& vector : support::vector_group("tensorfile")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& expected = vector["expected"];
    base::write_file(folder / "a.tensor", support::decode_base64(vector["input"]["file_base64"]));
    const TensorfileReader theirs(folder / "a.tensor");
    EXPECT_EQ(theirs.count(), expected["count"].get<std::int64_t>());
    EXPECT_EQ(theirs.shape(), expected["shape"].get<BatchShape>());
    TensorfileWriter writer(folder / "b.tensor", theirs.shape(), base::Overwrite::kRefuse);
    for (std::int64_t b = 0; b < theirs.count(); ++b) {
      const std::vector<float> batch = theirs.batch(b);
      EXPECT_EQ(batch, expected["batches"][b].get<std::vector<float>>());
      // What a calibration with batch size 1 takes of it: the first picture.
      EXPECT_EQ(std::vector<float>(batch.begin(), batch.begin() + 12),
                expected["images_used_per_batch"][b].get<std::vector<float>>());
      writer.add(batch);
    }
    writer.close();
    const TensorfileReader ours(folder / "b.tensor");
    EXPECT_EQ(ours.batch(1), theirs.batch(1));
  }
}

}  // namespace
}  // namespace maskfit::formats
