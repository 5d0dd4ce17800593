#include <gtest/gtest.h>

#include "loader/sample_order.h"
#include "tests/support/vectors.h"

namespace maskfit::loader {
namespace {

TEST(LoaderVectors, StepsPerEpoch) {
  MASKFIT_REQUIRE_VECTORS();
  for (const auto& vector : support::vector_group("training_loop")) {
    const auto& cases = vector.at("input").at("cases");
    const auto& steps = vector.at("expected").at("steps");
    ASSERT_EQ(cases.size(), steps.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(steps_per_epoch(cases[i].at("n"), cases[i].at("batch"), cases[i].at("gpus")), steps[i])
          << cases[i].dump();
    }
  }
}

}  // namespace
}  // namespace maskfit::loader
