#include "report/html.h"

#include <gtest/gtest.h>

#include <cmath>

namespace maskfit::report {
namespace {

TEST(Html, EscapesWhatWouldBecomeMarkup) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'>&</b>"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt;");
  EXPECT_EQ(escaped("口罩"), "口罩");
}

TEST(Html, Base64OfEveryLength) {
  // The examples of RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\xfe\x00", 3)), "//4A");
}

TEST(Html, NumbersAreShort) {
  EXPECT_EQ(short_number(0.72734), "0.7273");
  EXPECT_EQ(short_number(640), "640");
  EXPECT_EQ(short_number(1.2e-5), "1.2e-05");
  EXPECT_EQ(short_number(std::nan("")), "n/a");
}

TEST(Html, ThousandsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(-1234), "-1,234");
}

TEST(Html, PercentOfAShareThatDoesNotExist) {
  EXPECT_EQ(percent(std::nan("")), "n/a");
}

}  // namespace
}  // namespace maskfit::report
