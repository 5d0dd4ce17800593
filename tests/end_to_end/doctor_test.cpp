// `maskfit doctor` with and without a GPU. The GPU's driver library is a stand-in (fake_nvml.cpp).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace maskfit {
namespace {
using support::Outcome;
using testing::HasSubstr;

Outcome doctor(const std::vector<std::string>& options, const std::vector<std::string>& environment = {}) {
  std::vector<std::string> words = {MASKFIT_BINARY, "doctor"};
  words.insert(words.end(), options.begin(), options.end());
  return support::run_process(words, environment);
}

const std::string kFakeNvml = std::string("LD_LIBRARY_PATH=") + FAKE_NVML_FOLDER;

TEST(Doctor, TextEndsWithAdviceOrAllClear) {
  const Outcome outcome = doctor({"--no-measure"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nLibTorch"));
  EXPECT_THAT(outcome.out,
              testing::AnyOf(HasSubstr("What will not work"), HasSubstr("Nothing stands in the way")));
}

TEST(Doctor, JsonAloneOnStdout) {
  const Outcome outcome = doctor({"--json", "--no-measure"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GE(json.at("cpu").at("cores_usable"), 1);
  EXPECT_GT(json.at("memory").at("total_bytes"), 0);
  EXPECT_FALSE(json.at("libtorch").at("version").get<std::string>().empty());
}

TEST(Doctor, GpusWithMemoryCapabilityDriverAndLinks) {
  const auto json = nlohmann::json::parse(doctor({"--json", "--no-measure"}, {kFakeNvml}).out);
  const auto& gpu = json.at("gpu");
  EXPECT_EQ(gpu.at("driver"), "550.54.15");
  EXPECT_EQ(gpu.at("cuda_driver"), "12.4");
  ASSERT_EQ(gpu.at("devices").size(), 2u);
  EXPECT_EQ(gpu.at("devices")[0].at("name"), "NVIDIA Fake 80GB");
  EXPECT_EQ(gpu.at("devices")[1].at("memory_free_bytes"), 39ull << 30);
  EXPECT_EQ(gpu.at("devices")[1].at("compute_capability"), "7.5");
  EXPECT_EQ(gpu.at("links"), nlohmann::json::parse(R"([["X", "NV4"], ["NV4", "X"]])"));
}

TEST(Doctor, DriverThatDoesNotMatchIsExplained) {
  const Outcome outcome = doctor({"--no-measure"}, {kFakeNvml, "FAKE_NVML_INIT=18"});
  EXPECT_THAT(outcome.out, HasSubstr("the fake driver refuses"));
  EXPECT_THAT(outcome.out, HasSubstr("restart the machine"));
}

TEST(Doctor, MisspeltOptionIsAUsageError) {
  const Outcome outcome = doctor({"--jsn"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("did you mean '--json'?"));
}

}  // namespace
}  // namespace maskfit
