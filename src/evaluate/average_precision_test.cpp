#include "evaluate/average_precision.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/error.h"

namespace maskfit::evaluate {
namespace {

using Values = std::vector<double>;

TEST(AveragePrecision, APerfectDetectorHasOneExceptInTheReferencesIntegrate) {
  const Values precision = {1, 1, 1, 1}, recall = {0.25, 0.5, 0.75, 1};
  EXPECT_DOUBLE_EQ(ap_all_point(precision, recall), 1);
  EXPECT_DOUBLE_EQ(ap_sample(precision, recall), 1);
  EXPECT_DOUBLE_EQ(ap_coco(precision, recall), 1);
  EXPECT_DOUBLE_EQ(ap_integrate(precision, recall), 0.75);
}

TEST(AveragePrecision, AllPointIsTheAreaUnderTheEnvelope) {
  // 0 .. 0.5 at precision 1, 0.5 .. 1 at 2/3 (the dip to 1/2 is bridged).
  EXPECT_NEAR(ap_all_point(Values{1, 0.5, 2.0 / 3}, Values{0.5, 0.5, 1}), 0.5 + 0.5 * 2 / 3, 1e-15);
}

TEST(AveragePrecision, IntegrateLeavesOutBothEnds) {
  // Distinct recalls 0.5 and 1: one step of 0.5 with the best precision before the second begins.
  EXPECT_DOUBLE_EQ(ap_integrate(Values{1, 0.5, 2.0 / 3}, Values{0.5, 0.5, 1}), 0.5);
  EXPECT_DOUBLE_EQ(ap_integrate(Values{1}, Values{1}), 0) << "one object, found";
}

TEST(AveragePrecision, SampleCountsElevenRecalls) {
  // Best precision 1 for 0 .. 0.5, 0.5 for none of the rest.
  EXPECT_NEAR(ap_sample(Values{1}, Values{0.5}), 6.0 / 11, 1e-15);
}

TEST(AveragePrecision, CurvesWithoutDetectionsOrTruthsAreZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto ap : {ap_all_point, ap_sample, ap_integrate, ap_coco}) {
    EXPECT_EQ(ap({}, {}), 0);
    EXPECT_EQ(ap(Values{0}, Values{nan}), 0);
    EXPECT_EQ(ap(Values{0, 0}, Values{0, 0}), 0);
    EXPECT_THROW(ap(Values{0, 0}, Values{0}), base::CheckFailed);
  }
}

}  // namespace
}  // namespace maskfit::evaluate
