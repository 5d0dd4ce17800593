#include "network/check_reason.h"

#include <gtest/gtest.h>

namespace maskfit::network {
namespace {

TEST(CheckReason, IsTheValuesWithoutExpressionAndPlace) {
  try {
    MASKFIT_CHECK(1 + (2) == 4, "node '{}': stride={} (of 3): odd", "conv1", 0);
  } catch (const base::CheckFailed& error) {
    EXPECT_EQ(reason_of(error), "node 'conv1': stride=0 (of 3): odd");
    return;
  }
  FAIL();
}

TEST(CheckReason, OtherTextStaysWhole) {
  EXPECT_EQ(reason_of(base::CheckFailed("something else")), "something else");
}

}  // namespace
}  // namespace maskfit::network
