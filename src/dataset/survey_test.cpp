#include "dataset/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A folder with these empty files.
std::vector<SurveyedFile> survey_of(const std::vector<std::string>& names) {
  support::TempDir folder;
  for (const std::string& name : names) base::write_file(folder / name, "");
  auto files = survey(folder.path());
  for (SurveyedFile& file : files) {
    if (base::to_lower(file.path.extension().string()) == ".xml") file.kind = FileKind::kLabel;
  }
  return files;
}

std::vector<std::string> pairs_of(const std::vector<std::string>& names) {
  const auto files = survey_of(names);
  std::vector<std::string> pairs;
  for (const Pair& pair : pair_files(files).pairs) {
    pairs.push_back(files[pair.picture].path.string() + " " + files[pair.label].path.string());
  }
  return pairs;
}

std::vector<std::string> left_of(const std::vector<std::string>& names) {
  const auto files = survey_of(names);
  std::vector<std::string> left;
  for (const auto& [file, reason, alone] : pair_files(files).left) {
    left.push_back(files[file].path.string() + ": " + reason);
  }
  return left;
}

TEST(Survey, EveryFileOnceSortedByBytes) {
  const auto files = survey_of({"b.JPG", "a/z.xml", "B.png", "notes.txt", ".hidden.jpg", "a b (1).jpeg"});
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.path.string());
  EXPECT_THAT(names, ElementsAre(".hidden.jpg", "B.png", "a b (1).jpeg", "a/z.xml", "b.JPG", "notes.txt"));
  EXPECT_EQ(files[0].kind, FileKind::kOther);
  EXPECT_EQ(files[1].kind, FileKind::kPicture);
  EXPECT_EQ(files[3].kind, FileKind::kLabel);
  EXPECT_EQ(files[4].kind, FileKind::kPicture);
  EXPECT_EQ(files[5].kind, FileKind::kOther);
}

TEST(Survey, SplitComesFromTheInnermostFolderOfThatName) {
  const auto files = survey_of(
      {"Train/images/a.jpg", "images/valid/b.jpg", "testing/c.jpg", "other/d.jpg", "val/train/e.jpg"});
  std::vector<std::string> splits;
  for (const auto& file : files) splits.push_back(file.path.filename().string() + " " + file.split);
  EXPECT_THAT(splits, ElementsAre("a.jpg train", "b.jpg val", "d.jpg ", "c.jpg test", "e.jpg train"));
}

TEST(Survey, LinkToAFolderIsListedAndNotFollowed) {
  support::TempDir folder;
  base::write_file(folder / "real/a.jpg", "");
  std::filesystem::create_directory_symlink(folder.path(), folder / "loop");
  const auto files = survey(folder.path());
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "loop");
  EXPECT_EQ(files[0].kind, FileKind::kOther);
}

TEST(Survey, MissingFolderIsNamed) {
  EXPECT_THROW(survey("/no/such/folder"), base::Error);
}

TEST(PairFiles, FlatFolder) {
  EXPECT_THAT(pairs_of({"a.jpg", "a.xml", "b.png", "b.xml"}), ElementsAre("a.jpg a.xml", "b.png b.xml"));
}

TEST(PairFiles, SideBySideFoldersOfAnyName) {
  EXPECT_THAT(pairs_of({"images/a.jpg", "labels/a.xml"}), ElementsAre("images/a.jpg labels/a.xml"));
  EXPECT_THAT(pairs_of({"JPEGImages/a.jpg", "Annotations/a.xml"}),
              ElementsAre("JPEGImages/a.jpg Annotations/a.xml"));
  EXPECT_THAT(pairs_of({"pics/a.jpg", "original_annotations/a.xml"}),
              ElementsAre("pics/a.jpg original_annotations/a.xml"));
}

TEST(PairFiles, SplitTreesOfBothOrders) {
  EXPECT_THAT(pairs_of({"train/images/a.jpg", "train/labels/a.xml", "val/images/a.jpg", "val/labels/a.xml"}),
              ElementsAre("train/images/a.jpg train/labels/a.xml", "val/images/a.jpg val/labels/a.xml"));
  EXPECT_THAT(pairs_of({"images/train/a.jpg", "labels/train/a.xml", "images/val/a.jpg", "labels/val/a.xml"}),
              ElementsAre("images/train/a.jpg labels/train/a.xml", "images/val/a.jpg labels/val/a.xml"));
}

TEST(PairFiles, EqualNamesInSeveralSetsStayInTheirSet) {
  EXPECT_THAT(pairs_of({"one/img/a.jpg", "one/xml/a.xml", "two/img/a.jpg", "two/xml/a.xml"}),
              ElementsAre("one/img/a.jpg one/xml/a.xml", "two/img/a.jpg two/xml/a.xml"));
}

TEST(PairFiles, LabelOfAnotherSplitIsNotTaken) {
  EXPECT_THAT(left_of({"train/a.jpg", "val/a.xml"}),
              ElementsAre("train/a.jpg: there is no label of this name",
                          "val/a.xml: there is no picture of this name"));
}

TEST(PairFiles, NamesThatDifferInCaseArePairedAndMarked) {
  const auto files = survey_of({"IMG_1.JPG", "img_1.xml"});
  const Pairing pairing = pair_files(files);
  ASSERT_EQ(pairing.pairs.size(), 1u);
  EXPECT_THAT(pairing.pairs[0].how, HasSubstr("upper and lower case"));
}

TEST(PairFiles, ExactNameGoesBeforeOneThatDiffersInCase) {
  EXPECT_THAT(pairs_of({"a.jpg", "a.xml", "A.jpg", "A.xml"}), ElementsAre("A.jpg A.xml", "a.jpg a.xml"));
}

TEST(PairFiles, TwoPicturesWithOneLabelAreNotGuessed) {
  EXPECT_THAT(left_of({"a.jpg", "a.png", "a.xml"}),
              ElementsAre("a.jpg: several pictures share the label a.xml",
                          "a.png: several pictures share the label a.xml",
                          "a.xml: it could belong to any of a.jpg, a.png"));
}

TEST(PairFiles, ALabelThatStatesItsPictureDecidesBetweenEqualStems) {
  const auto files = survey_of({"a.jpg", "a.png", "a.xml"});
  const Pairing pairing = pair_files(files, [](std::size_t) { return "a.png"; });
  ASSERT_EQ(pairing.pairs.size(), 1u);
  EXPECT_EQ(files[pairing.pairs[0].picture].path, "a.png");
  ASSERT_EQ(pairing.left.size(), 1u);
  EXPECT_EQ(pairing.left[0].reason, "there is no label of this name");
}

TEST(PairFiles, ALabelMayCarryThePicturesEnding) {
  EXPECT_THAT(pairs_of({"a.jpg", "a.png", "a.jpg.xml", "a.png.xml"}),
              ElementsAre("a.jpg a.jpg.xml", "a.png a.png.xml"));
}

TEST(PairFiles, NamesThatDifferInTheWordForTheirKind) {
  EXPECT_THAT(pairs_of({"test/images/test_img_4.jpg", "test/images/test_img_14.jpg",
                        "test/labels/test_label_4.xml", "test/labels/test_label_14.xml"}),
              testing::UnorderedElementsAre("test/images/test_img_4.jpg test/labels/test_label_4.xml",
                                            "test/images/test_img_14.jpg test/labels/test_label_14.xml"));
  // Two pictures for one number, another split, and names that are nothing but such a word: no pairs.
  EXPECT_THAT(pairs_of({"img_4.jpg", "picture_4.jpg", "label_4.xml"}), testing::IsEmpty());
  EXPECT_THAT(pairs_of({"train/img_4.jpg", "val/label_4.xml"}), testing::IsEmpty());
  EXPECT_THAT(pairs_of({"image.jpg", "label.xml"}), testing::IsEmpty());
}

TEST(PairFiles, TwoLabelsForOnePictureAreNotGuessed) {
  EXPECT_THAT(left_of({"images/a.jpg", "v1/a.xml", "v2/a.xml"}),
              ElementsAre(HasSubstr("images/a.jpg: it has several labels: v1/a.xml, v2/a.xml"),
                          HasSubstr("v1/a.xml: images/a.jpg has several labels"), HasSubstr("v2/a.xml")));
  // The one in the picture's own folder is the nearer one.
  EXPECT_THAT(pairs_of({"set/a.jpg", "set/a.xml", "a.xml"}), ElementsAre("set/a.jpg set/a.xml"));
}

TEST(PairFiles, EveryPictureAndLabelIsPairedOrLeftExactlyOnce) {
  const std::vector<std::string> names = {"a.jpg", "a.png", "a.xml", "b.jpg", "b.xml", "B.xml",  "x/b.jpg",
                                          "c.xml", "d.gif", "e.txt", "f.jpg", "F.XML", "y/b.xml"};
  const auto files = survey_of(names);
  const Pairing pairing = pair_files(files);
  std::vector<int> seen(files.size(), 0);
  for (const Pair& pair : pairing.pairs) ++seen[pair.picture], ++seen[pair.label];
  for (const auto& left : pairing.left) ++seen[left.file];
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(seen[i], files[i].kind == FileKind::kOther ? 0 : 1) << files[i].path;
  }
}

TEST(Survey, LinksToThemselvesAndToFoldersAboveEndNowhere) {
  support::TempDir folder;
  std::filesystem::create_directories(folder / "a");
  std::filesystem::create_symlink("..", folder / "a/up");
  std::filesystem::create_symlink("self", folder / "self.jpg");
  std::filesystem::create_symlink("nothing", folder / "dead.jpg");
  std::ofstream(folder / "p.jpg") << "x";
  const auto files = survey(folder.path());
  ASSERT_EQ(files.size(), 4u);
  for (const SurveyedFile& file : files)
    EXPECT_EQ(file.kind == FileKind::kPicture, file.path == "p.jpg") << file.path;
}

}  // namespace
}  // namespace maskfit::dataset
