#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskfit::base {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitWords, RunsOfWhiteSpaceSeparate) {
  EXPECT_THAT(split_words("  a\tbc \r\n d"), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split_words(" \n"), IsEmpty());
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Trim, BothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("   "), "");
}

TEST(ToLower, LeavesUtf8Alone) {
  EXPECT_EQ(to_lower("MASK Ünï"), "mask Ünï");
}

TEST(NearestName, LetterMissingExtraWrongOrSwapped) {
  const std::vector<std::string> names = {"train", "evaluate", "infer"};
  EXPECT_EQ(nearest_name("tran", names), "train");
  EXPECT_EQ(nearest_name("trainn", names), "train");
  EXPECT_EQ(nearest_name("brain", names), "train");
  EXPECT_EQ(nearest_name("trian", names), "train");
  EXPECT_EQ(nearest_name("EVALUATE", names), "evaluate");
}

TEST(NearestName, NothingWhenNoNameIsNear) {
  EXPECT_EQ(nearest_name("xyz", {"train", "infer"}), "");
  EXPECT_EQ(nearest_name("train", {}), "");
}

TEST(ParseNumber, WholeTextOrNothing) {
  float real = 0;
  long long whole = 0;
  EXPECT_TRUE(parse_float("-1.5e2", &real));
  EXPECT_EQ(real, -150.0f);
  EXPECT_TRUE(parse_float("+3", &real));
  EXPECT_EQ(real, 3.0f);
  EXPECT_TRUE(parse_int("42", &whole));
  EXPECT_EQ(whole, 42);
  for (const char* bad : {"", "1,5", "1.5x", " 1", "+-1", "+", "--1"})
    EXPECT_FALSE(parse_float(bad, &real)) << bad;
  for (const char* bad : {"", "1.5", "99999999999999999999", "0x10"})
    EXPECT_FALSE(parse_int(bad, &whole)) << bad;
}

TEST(FormatDuration, MinutesThenHours) {
  EXPECT_EQ(format_duration(187.4), "3:07");
  EXPECT_EQ(format_duration(3787), "1:03:07");
  EXPECT_EQ(format_duration(59.6), "1:00");
  EXPECT_EQ(format_duration(-1), "0:00");
}

}  // namespace
}  // namespace maskfit::base
