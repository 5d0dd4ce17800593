#include "formats/utf8.h"

#include <gtest/gtest.h>

namespace maskfit::formats {
namespace {

TEST(Utf8, CodePointsOfEveryLength) {
  std::string text;
  for (const std::uint32_t code : {0x41u, 0xE4u, 0x53E3u, 0x1F637u, 0xD800u, 0x110000u})
    append_utf8(text, code);
  EXPECT_EQ(text, "A\xC3\xA4\xE5\x8F\xA3\xF0\x9F\x98\xB7\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_TRUE(is_utf8(text));
}

TEST(Utf8, LegacyTextIsToldAndConverted) {
  EXPECT_FALSE(is_utf8("Gesichtsmaske f\xFCr \xE4rzte"));
  EXPECT_FALSE(is_utf8("cut \xE5\x8F"));
  EXPECT_EQ(utf8_from_latin1("f\xFCr"), "f\xC3\xBCr");
}

}  // namespace
}  // namespace maskfit::formats
