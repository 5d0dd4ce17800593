// `maskfit data organise` on folders as they were published, and killed in the middle. Where there are no
// real folders beside the checkout the first case is skipped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include <thread>

#include "base/files.h"
#include "tests/support/archive_writer.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> organise(const fs::path& from, const fs::path& to) {
  return {MASKFIT_BINARY, "data", "organise", from.string(), "--to", to.string()};
}

TEST(Organise, PublishedFoldersAreFoundAmongOthers) {
  const fs::path raw = support::shared_data() / "raw";
  if (!fs::exists(raw / "fddb")) GTEST_SKIP() << "no real data beside the checkout";
  const support::TempDir folder;
  const support::Outcome outcome = support::run_process(organise(raw, folder / "sets"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("5,171 faces"));
  EXPECT_THAT(outcome.out, HasSubstr("fddb            pictures        missing        0      2845"));
  // Pictures and labels of five other sources lie there too; none of them may be taken.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "sets/fddb/FDDB-folds"), {}), 20);
  std::vector<fs::path> pictures, published;
  for (const auto& entry : fs::directory_iterator(folder / "sets/kaggle/images"))
    pictures.push_back(entry.path().filename());
  for (const auto& entry : fs::directory_iterator(raw / "andrewmvd/images"))
    published.push_back(entry.path().filename());
  EXPECT_THAT(pictures, testing::UnorderedElementsAreArray(published));
  EXPECT_FALSE(fs::exists(folder / "sets/kaggle-medical"));
  EXPECT_FALSE(fs::exists(folder / "sets/mafa"));
}

TEST(Organise, KilledInTheMiddleLeavesWholeFilesAndGoesOn) {
  const support::TempDir folder;
  std::vector<support::ArchiveMember> members;
  for (int i = 0; i < 200; ++i) {
    members.push_back(
        {fmt::format("MAFA/train-images/images/train_{:08d}.jpg", i + 1),
         "\xff\xd8\xff" + std::string(200'000, static_cast<char>('a' + i % 26)) + std::to_string(i), ""});
  }
  base::write_file(folder / "in/m.tar", support::make_archive(members, "gnutar"));
  const fs::path placed = folder / "sets/mafa/train-images/images";
  const pid_t child = support::start_process(organise(folder / "in", folder / "sets"));
  int status = 0;
  while (!fs::exists(placed / "train_00000020.jpg") && waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(placed)) {
    EXPECT_GE(entry.file_size(), 200'000u) << entry.path();
    ++left;
  }
  EXPECT_GE(left, 1u);
  EXPECT_LT(left, members.size()) << "it was through before it could be killed: the test has tested nothing";
  const support::Outcome outcome = support::run_process(organise(folder / "in", folder / "sets"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} written, {} were there", members.size() - left, left)));
  for (const auto& member : members) {
    EXPECT_EQ(base::read_file(placed / fs::path(member.name).filename()), member.content);
  }
  EXPECT_FALSE(fs::exists(folder / "sets/.maskfit-tmp"));
}

}  // namespace
}  // namespace maskfit
