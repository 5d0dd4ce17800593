#include "base/temporaries.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"

namespace maskfit::base {
namespace {
namespace fs = std::filesystem;

// The number of a process that has just ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(Temporaries, NamesAreShortAndDiffer) {
  const fs::path path = fs::path("folder") / std::string(255, 'x');
  const fs::path first = temporary_beside(path), second = temporary_beside(path);
  EXPECT_EQ(first.parent_path(), "folder");
  EXPECT_LT(first.filename().string().size(), 40u);
  EXPECT_NE(first, second);
  EXPECT_EQ(temporary_beside("alone").parent_path(), "");
}

TEST(Temporaries, OnlyThoseOfDeadWritersAreRemoved) {
  const support::TempDir dir;
  const std::string dead = ".tmp" + std::to_string(dead_process()) + "-3";
  const std::string own = ".tmp" + std::to_string(::getpid()) + "-999999";
  const std::string living = ".tmp" + std::to_string(::getppid()) + "-0";
  const std::vector<std::string> others = {".tmp", ".tmpfile", ".tmp12", ".tmp12-x", "a.tmp12-3", "model"};
  for (const std::string& name : {dead, own, living}) write_file(dir / name, "half");
  for (const std::string& name : others) write_file(dir / name, "mine");
  remove_stale_temporaries(dir.path());
  EXPECT_FALSE(fs::exists(dir / dead));
  EXPECT_FALSE(fs::exists(dir / own));
  EXPECT_TRUE(fs::exists(dir / living));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(dir / name)) << name;
  EXPECT_NO_THROW(remove_stale_temporaries(dir / "nowhere"));
}

}  // namespace
}  // namespace maskfit::base
