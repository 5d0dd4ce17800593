// `maskfit data organise` from its words to its exit code; what it finds is tested in
// dataset/organise_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "cli/app.h"
#include "tests/support/archive_writer.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {

using testing::HasSubstr;

class DataOrganise : public testing::Test {
 protected:
  int organise(std::vector<std::string> words) {
    words.insert(words.begin(), {"data", "organise"});
    std::ostringstream out, err;
    testing::internal::CaptureStdout();
    const int code = run(words, command_table(), out, err);
    out_ = testing::internal::GetCapturedStdout() + out.str();
    err_ = err.str();
    return code;
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }

  support::TempDir folder_;
  std::string out_, err_;
};

TEST_F(DataOrganise, PrintsTheTableAndExitsWith0AlsoForAnIncompleteSet) {
  base::write_file(folder_ / "in/MAFA/train_00000001.jpg", "\xff\xd8\xff.");
  EXPECT_EQ(organise({path("in"), "--to", path("sets"), "--dry-run"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("dry run: nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "sets"));
  EXPECT_EQ(organise({path("in"), "--to", path("sets")}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("1 linked, 0 written"));
  EXPECT_THAT(out_, HasSubstr("maskfit data get mafa"));
  EXPECT_EQ(organise({path("in"), "--to", path("copies"), "--mode", "copy"}), 0);
  EXPECT_THAT(out_, HasSubstr("0 linked, 1 written"));
}

TEST_F(DataOrganise, ArchiveThatCannotBeReadIsExitCode3) {
  base::write_file(folder_ / "in/MAFA/train_00000001.jpg", "\xff\xd8\xff.");
  base::write_file(folder_ / "in/locked.zip",
                   support::make_archive({{"a", "b", ""}}, "zip", "none", "secret"));
  EXPECT_EQ(organise({path("in"), "--to", path("sets")}), 3);
  EXPECT_THAT(out_, HasSubstr("1 linked"));
}

TEST_F(DataOrganise, NothingKnownIsExitCode3AndAMissingFolder2) {
  base::write_file(folder_ / "in/a.txt", "hello");
  EXPECT_EQ(organise({path("in"), "--to", path("sets")}), 3);
  EXPECT_THAT(err_, HasSubstr("nothing of a known set was found"));
  EXPECT_EQ(organise({path("in"), path("not here"), "--to", path("sets")}), 2);
  EXPECT_THAT(err_, HasSubstr("not here"));
  EXPECT_EQ(organise({path("in")}), 2);
}

}  // namespace
}  // namespace maskfit::cli
