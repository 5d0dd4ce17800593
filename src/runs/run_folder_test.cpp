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
  base::write_file(dir / "run/experiment_spec.txt", "x");
  const auto error = error_of([&] { RunFolder::create(dir / "run"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->hint(), HasSubstr("--resume"));
  EXPECT_THAT(error->hint(), HasSubstr("--force"));
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
