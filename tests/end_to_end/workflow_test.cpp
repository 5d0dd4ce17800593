// From pictures to detections with the binary alone, and what happens when it is stopped on the way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using support::maskfit;
using support::Outcome;
using testing::HasSubstr;

constexpr int kStepsAnEpoch = 3;  // of the tiny data's batches

// From names like step-000000417.ckpt.
int newest_step(const fs::path& checkpoints) {
  int newest = 0;
  for (const auto& entry : fs::directory_iterator(checkpoints)) {
    const std::string name = entry.path().stem().string();
    newest = std::max(newest, std::stoi(name.substr(name.find('-') + 1)));
  }
  return newest;
}

// One short training for all tests of this file.
class Workflow : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new support::TempDir;
    support::write_tiny_data(data());
    trained_ = maskfit(support::tiny_training(data(), run(), 2));
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override { ASSERT_EQ(trained_.status, 0) << trained_.err; }

  static fs::path data() { return *folder_ / "data"; }
  static fs::path run() { return *folder_ / "run"; }
  static fs::path scratch() { return *folder_ / "scratch"; }

  static support::TempDir* folder_;
  static Outcome trained_;
};

support::TempDir* Workflow::folder_ = nullptr;
Outcome Workflow::trained_;

TEST_F(Workflow, RunFolderHoldsEverything) {
  for (const char* name : {"model.safetensors", "best.safetensors", "experiment_spec.txt", "status.json",
                           "metrics.jsonl", "report.html", "events", "checkpoints"}) {
    EXPECT_TRUE(fs::exists(run() / name)) << name;
  }
}

TEST_F(Workflow, LogGoesToStderrAsPlainLines) {
  EXPECT_EQ(trained_.out, "");
  EXPECT_THAT(trained_.err, testing::Not(HasSubstr("\r")));  // no bar where there is no terminal
  EXPECT_THAT(trained_.err, testing::Not(HasSubstr("\033")));
}

TEST_F(Workflow, EffectiveSpecChecksClean) {
  EXPECT_EQ(maskfit({"spec", "check", (run() / "experiment_spec.txt").string()}).status, 0);
}

TEST_F(Workflow, EvaluatePrintsJsonAloneOnStdout) {
  const Outcome outcome =
      maskfit({"evaluate", (run() / "model.safetensors").string(), data().string(), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GE(json.at("mAP"), 0.0);
  EXPECT_LE(json.at("mAP"), 1.0);
  EXPECT_EQ(json.at("classes").size(), 2u);
}

TEST_F(Workflow, InferWritesPicturesLabelsAndJson) {
  const fs::path out = scratch() / "found";
  const Outcome outcome = maskfit(
      {"infer", (run() / "model.safetensors").string(), (data() / "images").string(), "-o", out.string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto count = [](const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  EXPECT_EQ(count(out / "images_annotated"), 12);
  EXPECT_EQ(count(out / "labels"), 12);
  EXPECT_NO_THROW(nlohmann::json::parse(base::read_file(out / "detections.json")));
}

TEST_F(Workflow, SecondTrainingDoesNotOverwrite) {
  const std::string before = base::read_file(run() / "metrics.jsonl");
  const Outcome outcome = maskfit(support::tiny_training(data(), run(), 2));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--force"));
  EXPECT_EQ(base::read_file(run() / "metrics.jsonl"), before);
}

TEST_F(Workflow, DataThatIsNoneLeavesNoRunFolder) {
  const fs::path missing = scratch() / "nothing", out = scratch() / "run";
  const Outcome outcome = maskfit(support::tiny_training(missing, out, 1));
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr(missing.string()));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(Workflow, ModelThatIsNoneIsRefused) {
  base::write_file(scratch() / "model.safetensors", "not a model");
  const Outcome outcome = maskfit({"evaluate", (scratch() / "model.safetensors").string(), data().string()});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("model.safetensors"));
}

TEST_F(Workflow, InterruptSavesAndResumeFinishes) {
  const fs::path out = scratch() / "interrupted";
  // `timeout` sends SIGINT to the training, then waits for it.
  std::vector<std::string> words = {"timeout", "--signal=INT", "--preserve-status", "4", MASKFIT_BINARY};
  const auto training = support::tiny_training(data(), out, 100000);
  words.insert(words.end(), training.begin(), training.end());
  const Outcome interrupted = support::run_process(words);
  ASSERT_EQ(interrupted.status, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("--resume"));
  EXPECT_FALSE(fs::is_empty(out / "checkpoints"));

  // To the end of the epoch that it was stopped in: fewer are refused, all 100,000 would take too long.
  const int epochs = newest_step(out / "checkpoints") / kStepsAnEpoch + 1;
  const Outcome resumed = maskfit(
      {"train", data().string(), "--out", out.string(), "--resume", "--epochs", std::to_string(epochs)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(out / "model.safetensors"));
}

}  // namespace
}  // namespace maskfit
