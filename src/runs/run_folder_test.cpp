#include "runs/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "tests/support/temp_dir.h"

namespace maskfit::runs {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

std::optional<base::Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(RunFolder, CreatesMissingParents) {
  support::TempDir dir;
  const RunFolder run = RunFolder::create(dir / "runs/a/b");
  EXPECT_TRUE(fs::is_directory(run.path()));
  EXPECT_FALSE(RunFolder::holds_run(run.path())) << "nothing was written yet";
}

TEST(RunFolder, ExistingRunIsNotOverwrittenUnasked) {
  support::TempDir dir;
  for (const char* name : {"checkpoints/step-000000001.ckpt", "metrics.jsonl", "model.safetensors",
                           "best.safetensors", "report.html"}) {
    fs::remove_all(dir / "run");
    base::write_file(dir / "run" / name, "x");
    const auto error = error_of([&] { RunFolder::create(dir / "run"); });
    ASSERT_TRUE(error) << name;
    EXPECT_THAT(error->hint(), HasSubstr("--resume"));
    EXPECT_THAT(error->hint(), HasSubstr("--force"));
    EXPECT_TRUE(fs::exists(dir / "run" / name));
  }
}

// What a run leaves that was refused, by its data say, before its first step: it must not block the corrected
// command.
TEST(RunFolder, RunWithoutAStepIsReplaced) {
  support::TempDir dir;
  base::write_file(dir / "run/experiment_spec.txt", "x");
  base::write_file(dir / "run/status.json", "{}");
  base::write_file(dir / "run/metrics.jsonl", "");
  base::write_file(dir / "run/events/events.out.tfevents.1", "x");
  fs::create_directory(dir / "run/checkpoints");
  EXPECT_TRUE(RunFolder::holds_run(dir / "run")) << "it can be resumed all the same";
  const RunFolder run = RunFolder::create(dir / "run");
  EXPECT_FALSE(fs::exists(run.status()));
  EXPECT_FALSE(fs::exists(run.events()));
}

TEST(RunFolder, ResumeRemovesWhatKilledWritersLeft) {
  support::TempDir dir;
  base::write_file(dir / "run/experiment_spec.txt", "x");
  // No process has a number that high.
  for (const char* name : {"run/.tmp2147480000-4", "run/checkpoints/.tmp2147480000-5"}) {
    base::write_file(dir / name, "half");
  }
  base::write_file(dir / "run/.tmp notes", "mine");
  const RunFolder run = RunFolder::resume(dir / "run");
  EXPECT_FALSE(fs::exists(dir / "run/.tmp2147480000-4"));
  EXPECT_TRUE(fs::is_empty(run.checkpoints()));
  EXPECT_TRUE(fs::exists(dir / "run/.tmp notes"));
}

TEST(RunFolder, ForceRemovesTheRunAndNothingElse) {
  support::TempDir dir;
  base::write_file(dir / "run/experiment_spec.txt", "x");
  base::write_file(dir / "run/checkpoints/step-000000001.ckpt", "x");
  base::write_file(dir / "run/my notes.txt", "mine");
  const RunFolder run = RunFolder::create(dir / "run", base::Overwrite::kAllow);
  EXPECT_FALSE(fs::exists(run.spec()));
  EXPECT_FALSE(fs::exists(run.checkpoints()));
  EXPECT_TRUE(fs::exists(dir / "run/my notes.txt"));
}

TEST(RunFolder, ResumeWithoutARunIsRefused) {
  support::TempDir dir;
  const auto error = error_of([&] { RunFolder::resume(dir / "nothing"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("no run to resume"));
}

TEST(RunFolder, TwoTrainingsInOneFolderAreRefused) {
  support::TempDir dir;
  std::optional<RunFolder> first = RunFolder::create(dir / "run");
  const auto error = error_of([&] { RunFolder::create(dir / "run"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("another training"));
  first.reset();
  EXPECT_NO_THROW(RunFolder::create(dir / "run"));
}

TEST(RunFolder, PathThatIsAFileIsAnError) {
  support::TempDir dir;
  base::write_file(dir / "file", "x");
  EXPECT_TRUE(error_of([&] { RunFolder::create(dir / "file"); }));
}

}  // namespace
}  // namespace maskfit::runs
