#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/finding.h"
#include "base/version.h"

namespace maskfit::base {
namespace {
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Check, MessageCarriesExpressionPlaceAndValues) {
  const int n = 3;
  try {
    MASKFIT_CHECK(n == 4, "n={}", n);
    FAIL() << "did not throw";
  } catch (const CheckFailed& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(HasSubstr("n == 4"), HasSubstr("error_test.cpp:"), HasSubstr("n=3")));
  }
}

TEST(Check, ConditionIsEvaluatedOnce) {
  int calls = 0;
  MASKFIT_CHECK(++calls > 0, "calls={}", calls);
  EXPECT_EQ(calls, 1);
}

TEST(Error, KeepsItsParts) {
  const Error error(ExitCode::kRefused, "what", "where", "hint");
  EXPECT_STREQ(error.what(), "what");
  EXPECT_EQ(error.where(), "where");
  EXPECT_EQ(error.hint(), "hint");
  EXPECT_EQ(static_cast<int>(error.code()), 3);
}

TEST(Finding, TextHasOnlyThePartsThatAreKnown) {
  EXPECT_EQ(to_string(Finding{Severity::kRefused, "labels/0001.txt", 3, "x2", "17 is not right of x1 = 20",
                              "swap them"}),
            "labels/0001.txt:3: x2: 17 is not right of x1 = 20; swap them");
  EXPECT_EQ(to_string(Finding{Severity::kWarning, "a.jpg", 0, "", "no label", ""}), "a.jpg: no label");
  EXPECT_EQ(to_string(Finding{Severity::kWarning, "", 0, "", "nothing found", ""}), "nothing found");
}

TEST(Version, IsThreeNumbersAndTheBuildRunsAnywhere) {
  EXPECT_THAT(version(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
#ifdef __x86_64__
  EXPECT_THAT(build_facts(), HasSubstr("x86-64 baseline"));
#endif
}

}  // namespace
}  // namespace maskfit::base
