// The last line of ./dev test comes from tests/support/summary.awk: it must never count a test as passed or
// skipped that did not run for another reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace maskfit::architecture {
namespace {
using testing::EndsWith;
using testing::HasSubstr;

struct Summary {
  std::string text;
  int status;
};

Summary summarise(const std::string& testcases) {
  const support::TempDir folder;
  std::ofstream(folder / "report.xml")
      << "<?xml version=\"1.0\"?>\n<testsuite name=\"x\"\n\ttests=\"9\"\n\t>\n"
      << testcases << "</testsuite>\n";
  const std::string command = "awk -f '" + (support::source_dir() / "tests/support/summary.awk").string() +
                              "' '" + (folder / "report.xml").string() + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  Summary summary;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) summary.text += buffer.data();
  summary.status = ::pclose(pipe);
  return summary;
}

std::string testcase(const std::string& name, const std::string& status, const std::string& inside) {
  return "\t<testcase name=\"" + name + "\" classname=\"x\" time=\"0\" status=\"" + status + "\">\n" +
         inside + "\t</testcase>\n";
}

const std::string kPassed = testcase("good", "run", "\t\t<system-out>fine</system-out>\n");

TEST(Summary, LastLineCountsEveryKind) {
  const Summary summary = summarise(
      kPassed + testcase("bad", "fail", "\t\t<failure message=\"\"/>\n\t\t<system-out>x\n</system-out>\n") +
      testcase("skip", "notrun",
               "\t\t<skipped message=\"SKIP_REGULAR_EXPRESSION_MATCHED\"/>\n\t\t<system-out>[ RUN ] A.B\n"
               "/x/y_test.cpp:12: Skipped\nno vectors in &lt;here&gt;\n\n[  SKIPPED ] A.B\n</system-out>\n"));
  EXPECT_THAT(summary.text, EndsWith("\n1 passed, 1 failed, 1 skipped\n"));
  EXPECT_THAT(summary.text, HasSubstr("  skip: no vectors in <here>\n"));
  EXPECT_NE(summary.status, 0);
}

TEST(Summary, TestThatCouldNotStartHasFailed) {
  const Summary summary = summarise(
      kPassed + testcase("gone", "notrun", "\t\t<skipped message=\"Unable to find executable\"/>\n"));
  EXPECT_THAT(summary.text, EndsWith("\n1 passed, 1 failed, 0 skipped\n"));
  EXPECT_NE(summary.status, 0);
}

TEST(Summary, ReasonOfAProgramThatIsNoGoogleTest) {
  const Summary summary = summarise(
      kPassed +
      testcase(
          "emulated", "notrun",
          "\t\t<skipped message=\"SKIP_RETURN_CODE=77\"/>\n\t\t<system-out>no qemu here\n</system-out>\n"));
  EXPECT_THAT(summary.text, HasSubstr("  emulated: no qemu here\n"));
  EXPECT_EQ(summary.status, 0);
}

TEST(Summary, NothingRunIsAFailure) {
  const Summary summary = summarise("");
  EXPECT_EQ(summary.text, "\n0 passed, 0 failed, 0 skipped\n");
  EXPECT_NE(summary.status, 0);
}

}  // namespace
}  // namespace maskfit::architecture
