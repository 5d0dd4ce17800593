#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "tests/support/temp_dir.h"

namespace maskfit::base {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::kDone, "nothing was thrown");
}

TEST(WriteFile, WhatIsReadIsWhatWasWritten) {
  const support::TempDir folder;
  const std::string bytes("a\0b\r\n\xFF", 6);
  write_file(folder / "new/deep/file", bytes);
  EXPECT_EQ(read_file(folder / "new/deep/file"), bytes);
}

TEST(WriteFile, ReplacesAndLeavesNoTemporary) {
  const support::TempDir folder;
  write_file(folder / "a", "long old text");
  write_file(folder / "a", "new");
  EXPECT_EQ(read_file(folder / "a"), "new");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("a"));
}

TEST(WriteFile, RefusesToOverwriteWithAHint) {
  const support::TempDir folder;
  write_file(folder / "a", "old");
  const Error error = error_of([&] { write_file(folder / "a", "new", Overwrite::kRefuse); });
  EXPECT_EQ(error.where(), (folder / "a").string());
  EXPECT_THAT(error.hint(), HasSubstr("--force"));
  EXPECT_EQ(read_file(folder / "a"), "old");
}

TEST(WriteFile, FailureKeepsTheOldFileAndLeavesNoTemporary) {
  const support::TempDir folder;
  fs::create_directory(folder / "target");
  write_file(folder / "target/inside", "x");
  // A folder cannot be replaced by a file: the rename fails after everything was written.
  EXPECT_THROW(write_file(folder / "target", "new"), Error);
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("target"));
  EXPECT_EQ(read_file(folder / "target/inside"), "x");
}

// The temporary name must not be longer than the file's own.
TEST(WriteFile, NameAsLongAsTheFileSystemAllows) {
  const support::TempDir folder;
  const std::string longest(255, 'x');
  write_file(folder / longest, "bytes");
  EXPECT_EQ(read_file(folder / longest), "bytes");
  const Error error = error_of([&] { write_file(folder / (longest + "x"), "bytes"); });
  EXPECT_THAT(error.what(), HasSubstr("name too long"));
  EXPECT_THAT(error.hint(), HasSubstr("shorter"));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre(longest));
}

TEST(WriteFile, ParentThatIsAFileIsNamed) {
  const support::TempDir folder;
  write_file(folder / "a", "x");
  const Error error = error_of([&] { write_file(folder / "a/b", "y"); });
  EXPECT_THAT(error.where(), HasSubstr((folder / "a").string()));
}

TEST(ReadFile, MissingFileNamesThePathThatExists) {
  const support::TempDir folder;
  const Error error = error_of([&] { read_file(folder / "no/such/file"); });
  EXPECT_THAT(error.what(), HasSubstr("No such file"));
  EXPECT_EQ(error.where(), (folder / "no/such/file").string());
  EXPECT_THAT(error.hint(), HasSubstr("exists up to '" + folder.path().string() + "'"));
}

// A relative name has no part that exists; the hint says where it was looked for.
TEST(ReadFile, MissingRelativeFileNamesTheCurrentFolder) {
  const Error error = error_of([] { read_file("no-such-file.txt"); });
  EXPECT_THAT(error.hint(), HasSubstr("no 'no-such-file.txt' in the current folder, '" +
                                      fs::current_path().string() + "'"));
}

TEST(ReadFile, FileInPlaceOfAFolderIsNamed) {
  const support::TempDir folder;
  write_file(folder / "a", "x");
  const Error error = error_of([&] { read_file(folder / "a/b/c"); });
  EXPECT_THAT(error.hint(), HasSubstr("'" + (folder / "a").string() + "' is a file"));
}

// Both would be read for ever.
TEST(ReadFile, PipesAndDevicesAreNoFiles) {
  const support::TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_file(folder / "pipe"); }).what(), HasSubstr("a pipe or a device"));
  EXPECT_THAT(error_of([] { read_file("/dev/zero"); }).what(), HasSubstr("a pipe or a device"));
}

TEST(ReadFile, FolderIsNoFile) {
  const support::TempDir folder;
  EXPECT_THAT(error_of([&] { read_file(folder.path()); }).what(), HasSubstr("found a folder"));
}

TEST(AppendLine, AddsToWhatIsThere) {
  const support::TempDir folder;
  append_line(folder / "logs/a", "one");
  append_line(folder / "logs/a", "two");
  EXPECT_EQ(read_file(folder / "logs/a"), "one\ntwo\n");
}

// FIPS 180-4's examples.
TEST(Sha256, PublishedDigests) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace maskfit::base
