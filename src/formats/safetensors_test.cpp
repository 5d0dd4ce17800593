#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/little_endian.h"
#include "tests/support/temp_dir.h"

namespace maskfit::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Safetensors example() {
  Safetensors file;
  file.metadata = {{"format", "maskfit"}, {"classes", "mask\nno-mask"}};
  file.arrays["bytes"] = array_of(std::vector<std::uint8_t>{1, 2, 255}, {3});
  file.arrays["conv1/kernel"] = array_of(std::vector<float>{1.5f, -2.0f, 0.0f, 3.25f}, {2, 1, 2});
  file.arrays["step"] = array_of(std::vector<std::int64_t>{-7}, {});
  file.arrays["empty"] = array_of(std::vector<float>{}, {0, 4});
  return file;
}

// A file with this header text and `data_size` zero bytes behind it.
std::string forged(const std::string& header, std::size_t data_size) {
  std::string bytes;
  append_le(bytes, static_cast<std::uint64_t>(header.size()));
  return bytes + header + std::string(data_size, '\0');
}

std::string refusal(const std::string& bytes) {
  try {
    decode_safetensors(bytes, "model.safetensors");
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_EQ(error.where(), "model.safetensors");
    return error.what();
  }
  return "accepted";
}

TEST(Safetensors, RoundTripKeepsArraysShapesAndMetadata) {
  const Safetensors back = decode_safetensors(encode_safetensors(example()), "memory");
  EXPECT_EQ(back.metadata, example().metadata);
  ASSERT_EQ(back.arrays.size(), 4u);
  EXPECT_EQ(back.arrays.at("conv1/kernel").shape, (std::vector<std::int64_t>{2, 1, 2}));
  EXPECT_EQ(back.arrays.at("empty").shape, (std::vector<std::int64_t>{0, 4}));
  EXPECT_TRUE(back.arrays.at("step").shape.empty());
  EXPECT_THAT(f32_values(back, "conv1/kernel", "memory"), ElementsAre(1.5f, -2.0f, 0.0f, 3.25f));
  EXPECT_THAT(i64_values(back, "step", "memory"), ElementsAre(-7));
  EXPECT_THAT(u8_values(back, "bytes", "memory"), ElementsAre(1, 2, 255));
}

TEST(Safetensors, HeaderIsSortedAndDataIsAlignedToEightBytes) {
  const std::string bytes = encode_safetensors(example());
  const auto header = load_le<std::uint64_t>(bytes);
  EXPECT_EQ((8 + header) % 8, 0u);
  const std::string text = bytes.substr(8, header);
  EXPECT_LT(text.find("\"__metadata__\""), text.find("\"bytes\""));
  EXPECT_LT(text.find("\"bytes\""), text.find("\"conv1/kernel\""));
  // The int64 comes first, then the floats, then the bytes, so that each is aligned to its own size.
  EXPECT_THAT(text, HasSubstr(R"("step":{"data_offsets":[0,8],"dtype":"I64","shape":[]})"));
  EXPECT_THAT(text, HasSubstr(R"("conv1/kernel":{"data_offsets":[8,24],"dtype":"F32","shape":[2,1,2]})"));
  EXPECT_THAT(text, HasSubstr(R"("bytes":{"data_offsets":[24,27],"dtype":"U8","shape":[3]})"));
}

TEST(Safetensors, SameContentGivesSameBytes) {
  EXPECT_EQ(encode_safetensors(example()), encode_safetensors(example()));
}

TEST(Safetensors, FileRoundTripAndMetadataOfTheHeaderAlone) {
  support::TempDir folder;
  const auto path = folder / "model.safetensors";
  write_safetensors(path, example());
  EXPECT_EQ(read_safetensors(path).arrays.size(), 4u);
  EXPECT_EQ(read_safetensors_metadata(path), example().metadata);
}

TEST(Safetensors, MissingFileIsNamed) {
  support::TempDir folder;
  EXPECT_THROW(read_safetensors(folder / "none"), base::Error);
  EXPECT_THROW(read_safetensors_metadata(folder / "none"), base::Error);
}

TEST(Safetensors, UnknownArrayNameOffersTheNearest) {
  try {
    f32_values(example(), "conv1/kernal", "m");
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no array 'conv1/kernal'"));
    EXPECT_THAT(error.hint(), HasSubstr("conv1/kernel"));
  }
}

TEST(Safetensors, WrongElementTypeIsNamed) {
  EXPECT_THAT([] { f32_values(example(), "step", "m"); },
              testing::ThrowsMessage<base::Error>(HasSubstr("is I64, expected F32")));
}

TEST(Safetensors, MetadataThatIsNotUtf8DoesNotBreakTheFile) {
  Safetensors file;
  file.metadata["path"] = "caf\xE9.jpg";
  const auto back = decode_safetensors(encode_safetensors(file), "memory");
  EXPECT_EQ(back.metadata.at("path"), "caf\xEF\xBF\xBD.jpg");
}

TEST(SafetensorsRefuses, EveryTruncation) {
  const std::string bytes = encode_safetensors(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(bytes.substr(0, size)), "accepted") << size << " of " << bytes.size() << " bytes";
  }
}

TEST(SafetensorsRefuses, HeaderLargerThanTheFile) {
  std::string bytes = encode_safetensors(example());
  for (const std::uint64_t size : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{bytes.size()}}) {
    std::string forged_size;
    append_le(forged_size, size);
    bytes.replace(0, 8, forged_size);
    EXPECT_THAT(refusal(bytes), HasSubstr("does not fit a file"));
  }
}

TEST(SafetensorsRefuses, NameUsedTwice) {
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(refusal(forged("{" + entry + "," + entry + "}", 1)), HasSubstr("names 'a' twice"));
}

TEST(SafetensorsRefuses, FieldUsedTwice) {
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"U8","shape":[1],"shape":[9],"data_offsets":[0,1]}})", 1)),
              HasSubstr("names 'shape' twice"));
}

TEST(SafetensorsRefuses, OverlapGapAndLeftover) {
  const auto two = [](const char* second) {
    return std::string(
               R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":)") +
           second + "}}";
  };
  EXPECT_EQ(refusal(forged(two("[4,8]"), 8)), "accepted");
  EXPECT_THAT(refusal(forged(two("[2,6]"), 8)), HasSubstr("expected it to begin at 4"));
  EXPECT_THAT(refusal(forged(two("[5,9]"), 9)), HasSubstr("expected it to begin at 4"));
  EXPECT_THAT(refusal(forged(two("[4,8]"), 7)), HasSubstr("within 7 bytes"));
  EXPECT_THAT(refusal(forged(two("[4,8]"), 9)), HasSubstr("1 bytes at the end belong to no array"));
}

TEST(SafetensorsRefuses, SizesThatDisagreeOrOverflow) {
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4)),
              HasSubstr("takes 4 bytes, its shape needs 8"));
  EXPECT_THAT(
      refusal(forged(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0)),
      HasSubstr("overflows"));
  EXPECT_THAT(
      refusal(forged(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0)),
      HasSubstr("overflows"));
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0)),
              HasSubstr("holds -1"));
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", 4)),
              HasSubstr("[begin, end]"));
}

TEST(SafetensorsRefuses, HeadersOfAnotherShape) {
  EXPECT_THAT(refusal(forged("not json", 0)), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(forged("[1]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(forged(R"({"a":1})", 0)), HasSubstr("'a' is not described by an object"));
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"U8","shape":[0]}})", 0)), HasSubstr("2 fields"));
  EXPECT_THAT(refusal(forged(R"({"a":{"dtype":"F16","shape":[0],"data_offsets":[0,0]}})", 0)),
              HasSubstr("'F16'"));
  EXPECT_THAT(refusal(forged(R"({"__metadata__":{"epoch":3}})", 0)), HasSubstr("'epoch' is not text"));
  EXPECT_THAT(refusal(forged(std::string(1000, '['), 0)), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal("PK\x03\x04 a zip archive, which older checkpoints are"),
              HasSubstr("does not fit a file"));
}

}  // namespace
}  // namespace maskfit::formats
