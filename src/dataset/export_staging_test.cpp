#include "dataset/export_staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;
using base::Overwrite;

int entries(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(StagedFolder, AppearsWholeOnCommit) {
  support::TempDir folder;
  {
    StagedFolder staged(folder / "a/out/", Overwrite::kRefuse);
    staged.write("labels/1.txt", "x");
    EXPECT_FALSE(fs::exists(folder / "a/out"));
    staged.commit("{}");
  }
  EXPECT_EQ(base::read_file(folder / "a/out/labels/1.txt"), "x");
  EXPECT_TRUE(fs::exists(folder / "a/out/conversion.json"));
  EXPECT_EQ(entries(folder / "a"), 1);
}

TEST(StagedFolder, LeavesNothingWithoutCommit) {
  support::TempDir folder;
  { StagedFolder(folder / "out", Overwrite::kRefuse).write("x", "y"); }
  EXPECT_EQ(entries(folder.path()), 0);
}

// A killed conversion cannot take its staging folder away; the next one to the same place does.
TEST(StagedFolder, LeavingsOfAKilledConversionGo) {
  support::TempDir folder;
  fs::create_directories(folder / ".out.tmp99999999/labels");  // above the largest process number
  fs::create_directories(folder / fmt::format(".out.tmp{}", ::getppid()));
  fs::create_directories(folder / ".out.tmpx");
  { StagedFolder(folder / "out", Overwrite::kRefuse).commit("{}"); }
  EXPECT_FALSE(fs::exists(folder / ".out.tmp99999999"));
  EXPECT_TRUE(fs::exists(folder / fmt::format(".out.tmp{}", ::getppid()))) << "of a process that lives";
  EXPECT_TRUE(fs::exists(folder / ".out.tmpx"));
}

TEST(StagedFolder, ReplacesAnEarlierConversionOnlyWhenAllowed) {
  support::TempDir folder;
  const auto convert = [&](const std::string& name, Overwrite overwrite) {
    StagedFolder staged(folder / "out", overwrite);
    staged.write(name, name);
    staged.commit("{}");
  };
  convert("old", Overwrite::kRefuse);
  EXPECT_THROW(convert("new", Overwrite::kRefuse), base::Error);
  EXPECT_TRUE(fs::exists(folder / "out/old"));
  convert("new", Overwrite::kAllow);
  EXPECT_FALSE(fs::exists(folder / "out/old"));
  EXPECT_TRUE(fs::exists(folder / "out/new"));
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(StagedFolder, NeverReplacesAFolderOfSomethingElse) {
  support::TempDir folder;
  base::write_file(folder / "home/thesis.tex", "years of work");
  EXPECT_THROW(StagedFolder(folder / "home", Overwrite::kAllow), base::Error);
  EXPECT_THROW(StagedFolder(folder / "home/thesis.tex", Overwrite::kAllow), base::Error);
  EXPECT_EQ(base::read_file(folder / "home/thesis.tex"), "years of work");
}

TEST(StagedFolder, EmptyFolderIsFine) {
  support::TempDir folder;
  fs::create_directories(folder / "out");
  StagedFolder staged(folder / "out", Overwrite::kRefuse);
  staged.write("x", "y");
  staged.commit("{}");
  EXPECT_TRUE(fs::exists(folder / "out/x"));
}

TEST(StagedFolder, LinkAndCopyGiveTheSamePicture) {
  support::TempDir folder;
  base::write_file(folder / "in/a b%.jpg", "pixels");
  fs::create_symlink(folder / "in/a b%.jpg", folder / "in/link.jpg");
  StagedFolder staged(folder / "out", Overwrite::kRefuse);
  staged.link("1.jpg", folder / "in/a b%.jpg");
  staged.link("2.jpg", folder / "in/link.jpg");
  staged.copy("3.jpg", folder / "in/link.jpg");
  EXPECT_THROW(staged.copy("4.jpg", folder / "in/none.jpg"), base::Error);
  EXPECT_THROW(staged.link("5.jpg", folder / "in/none.jpg"), base::Error);
  staged.commit("{}");
  fs::remove_all(folder / "in/link.jpg");
  for (const char* name : {"1.jpg", "2.jpg", "3.jpg"})
    EXPECT_EQ(base::read_file(folder / "out" / name), "pixels") << name;
}

TEST(StagedFolder, FoldersInEachOtherAreRefused) {
  support::TempDir folder;
  fs::create_directories(folder / "data/images");
  EXPECT_THROW(check_apart(folder / "data", folder / "data"), base::Error);
  EXPECT_THROW(check_apart(folder / "data", folder / "data/out"), base::Error);
  EXPECT_THROW(check_apart(folder / "data/images", folder / "data/"), base::Error);
  EXPECT_THROW(check_apart(folder / "data", folder / "x/../data/out"), base::Error);
  EXPECT_NO_THROW(check_apart(folder / "data", folder / "data-out"));
}

}  // namespace
}  // namespace maskfit::dataset
