#include "formats/tf_example.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace maskfit::formats {
namespace {

using namespace std::string_literals;

TEST(TfExample, RoundTripKeepsKindsOfEmptyLists) {
  const Example example = {{"a", BytesList{}},
                           {"b", FloatList{}},
                           {"c", Int64List{}},
                           {"d", FloatList{1.5f, -2}},
                           {"e", Int64List{-1, 1LL << 62}},
                           {"f", BytesList{"", "x\0y"s, "\xFF\xFE"}}};
  EXPECT_EQ(decode_example(encode_example(example), "memory"), example);
}

TEST(TfExample, KeysAreWrittenInByteOrder) {
  const std::string bytes = encode_example({{"b", Int64List{1}}, {"a", Int64List{1}}, {"B", Int64List{1}}});
  EXPECT_LT(bytes.find("\x0A\x01"
                       "B"),
            bytes.find("\x0A\x01"
                       "a"));
  EXPECT_LT(bytes.find("\x0A\x01"
                       "a"),
            bytes.find("\x0A\x01"
                       "b"));
}

TEST(TfExample, UnpackedNumbersAreAccepted) {
  // features { feature { key: "k" value { int64_list { value: 3 value: 4 } } } }, each value with its own tag
  EXPECT_EQ(decode_example("\x0A\x0D\x0A\x0B\x0A\x01k\x12\x06\x1A\x04\x08\x03\x08\x04"s, "m"),
            (Example{{"k", Int64List{3, 4}}}));
  EXPECT_EQ(decode_example("\x0A\x0E\x0A\x0C\x0A\x01k\x12\x07\x12\x05\x0D\0\0\xC0\x3F"s, "m"),
            (Example{{"k", FloatList{1.5f}}}));
}

TEST(TfExample, LastOfTwoEqualKeysWins) {
  const std::string first = "\x0A\x0A\x0A\x01k\x12\x05\x1A\x03\x0A\x01\x03"s;
  const std::string second = "\x0A\x0A\x0A\x01k\x12\x05\x1A\x03\x0A\x01\x04"s;
  EXPECT_EQ(decode_example("\x0A\x18"s + first + second, "m"), (Example{{"k", Int64List{4}}}));
}

TEST(TfExample, KeyThatIsNotUtf8IsKeptAndNothingIsPrinted) {
  testing::internal::CaptureStderr();
  const Example example = {{"\xFF\xFE", Int64List{1}}};
  EXPECT_EQ(decode_example(encode_example(example), "m"), example);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(TfExample, UnknownFieldsAndFeaturesWithoutKindAreSkipped) {
  EXPECT_EQ(decode_example("\x0A\x07\x0A\x05\x0A\x01k\x12\x00\x50\x01"s, "m"), Example{});
}

TEST(TfExample, EveryTruncationIsRefusedOrShorter) {
  const Example example = {{"frame/id", BytesList{"images/a"}}, {"x", FloatList{1, 2, 3}}};
  const std::string bytes = encode_example(example);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_example(bytes.substr(0, size), "m"), base::Error) << size;
  }
}

}  // namespace
}  // namespace maskfit::formats
