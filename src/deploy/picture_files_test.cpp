#include "deploy/picture_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::deploy {
namespace {
using testing::ElementsAre;

std::vector<std::string> names(const std::vector<PictureFile>& pictures) {
  std::vector<std::string> list;
  for (const PictureFile& picture : pictures) list.push_back(picture.output_name);
  return list;
}

TEST(ListPictures, FolderGivesItsPicturesSortedAndNothingElse) {
  support::TempDir dir;
  for (const char* name : {"b.JPG", "a.png", "notes.txt", "sub/c.jpg"}) base::write_file(dir / name, "x");
  EXPECT_THAT(names(list_pictures({dir.path()})), ElementsAre("a.png", "b.JPG"));
}

TEST(ListPictures, NamedFileIsTakenWhateverItsEnding) {
  support::TempDir dir;
  base::write_file(dir / "picture.jpe", "x");
  EXPECT_THAT(names(list_pictures({dir / "picture.jpe"})), ElementsAre("picture.jpe"));
}

TEST(ListPictures, SameStemDoesNotOverwriteTheOthersOutput) {
  support::TempDir dir;
  for (const char* name : {"x/face.jpg", "y/face.jpg", "y/face.png"}) base::write_file(dir / name, "x");
  EXPECT_THAT(names(list_pictures({dir / "x", dir / "y"})),
              ElementsAre("face.jpg", "face-2.jpg", "face-3.png"));
}

TEST(ListPictures, LinkToItselfIsLeftOut) {
  support::TempDir dir;
  base::write_file(dir / "a.jpg", "x");
  std::filesystem::create_symlink("loop.jpg", dir / "loop.jpg");
  EXPECT_THAT(names(list_pictures({dir.path()})), ElementsAre("a.jpg"));
}

TEST(ListPictures, MissingPathAndEmptyFolderAreErrors) {
  support::TempDir dir;
  EXPECT_THROW(list_pictures({dir / "none.jpg"}), base::Error);
  EXPECT_THROW(list_pictures({dir.path()}), base::Error);
}

}  // namespace
}  // namespace maskfit::deploy
