// No command ever dies of an illegal instruction: run under qemu as processors without AVX.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
using support::Outcome;

class OldProcessor : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!support::have_program("qemu-x86_64"))
      GTEST_SKIP() << "no qemu-x86_64 on the PATH (apt-get install qemu-user)";
  }

  static Outcome maskfit(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"qemu-x86_64", "-cpu", GetParam(), MASKFIT_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return support::run_process(words);
  }
};

TEST_P(OldProcessor, DoctorSeesTheProcessorItRunsOn) {
  const Outcome outcome = maskfit({"doctor", "--json", "--no-measure"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto cpu = nlohmann::json::parse(outcome.out).at("cpu");
  EXPECT_EQ(cpu.at("level"), std::string(GetParam()) == "core2duo" ? "x86-64-v1" : "x86-64-v2");
}

TEST_P(OldProcessor, VersionAndHelp) {
  EXPECT_EQ(maskfit({"--version"}).status, 0);
  EXPECT_EQ(maskfit({"help"}).status, 0);
}

TEST_P(OldProcessor, TrainsAndInfers) {
  const support::TempDir folder;
  support::write_tiny_data(folder / "data");
  const Outcome trained = maskfit(support::tiny_training(folder / "data", folder / "run", 1));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto first_picture = std::filesystem::directory_iterator(folder / "data/images")->path();
  const Outcome found = maskfit({"infer", (folder / "run/model.safetensors").string(), first_picture.string(),
                                 "-o", (folder / "found").string()});
  EXPECT_EQ(found.status, 0) << found.err;
}

INSTANTIATE_TEST_SUITE_P(Qemu, OldProcessor, testing::Values("core2duo", "Nehalem"),
                         [](const auto& processor) { return std::string(processor.param); });

}  // namespace
}  // namespace maskfit
