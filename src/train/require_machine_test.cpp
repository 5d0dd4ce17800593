#include "train/require_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {
using testing::HasSubstr;

constexpr double kMib = 1024.0 * 1024;

spec::Experiment experiment(int batch, const std::vector<std::string>& set = {}) {
  RunRequest request;
  request.backbone = "resnet10";
  request.size = "160x96";
  request.batch = batch;
  request.assignments = set;
  return effective_experiment(request, {"mask", "no-mask"}, true);
}

std::string hint_of(int batch, double bytes) {
  try {
    require_memory(experiment(batch), "cpu", bytes);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kMachine);
    EXPECT_THAT(error.what(), HasSubstr("160x96"));
    return error.hint();
  }
  return "";
}

TEST(RequireMemory, TheBatchThatIsNamedFitsAndTheNextDoesNot) {
  const std::string hint = hint_of(4096, 2000 * kMib);
  ASSERT_THAT(hint, HasSubstr("--batch "));
  const int fits = std::stoi(hint.substr(8));
  EXPECT_GT(fits, 16);
  EXPECT_LT(fits, 4096);
  EXPECT_EQ(hint_of(fits, 2000 * kMib), "");
  EXPECT_NE(hint_of(fits + 1, 2000 * kMib), "");
}

TEST(RequireMemory, WhereNotOnePictureFitsTheSizeIsToBlame) {
  EXPECT_THAT(hint_of(1, 1 * kMib), HasSubstr("--size"));
}

TEST(RequireMachine, AnOrdinaryRunIsFine) {
  EXPECT_NO_THROW(require_machine(experiment(2), "cpu"));
}

TEST(RequireMachine, BlocksThatDoNotExistAreNamed) {
  EXPECT_THROW(require_machine(experiment(2, {"model_config.freeze_blocks=77"}), "cpu"), base::Error);
}

}  // namespace
}  // namespace maskfit::train
