// The four public sets in small, in the states in which people have them.

#include "dataset/organise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "dataset/organise_recognise.h"
#include "tests/support/archive_writer.h"
#include "tests/support/mat_writer.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;
using support::ArchiveMember;
using support::make_archive;
using testing::HasSubstr;
using testing::Not;

using Tree = std::vector<std::pair<std::string, std::string>>;  // path, content

// Recognised as a JPEG by its first bytes; differs by name.
std::string jpeg(const std::string& name) {
  return "\xff\xd8\xff\xe0 a picture called " + name;
}

std::string voc(const std::string& picture, const std::vector<std::string>& classes) {
  std::string text =
      "<annotation><filename>" + picture + "</filename><size><width>9</width><height>9</height></size>";
  for (const std::string& name : classes) {
    text += "<object><name>" + name +
            "</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object>";
  }
  return text + "</annotation>";
}

Tree kaggle() {
  return {
      {"annotations/maksssksksss0.xml", voc("maksssksksss0.png", {"with_mask"})},
      {"annotations/maksssksksss1.xml", voc("maksssksksss1.png", {"without_mask", "mask_weared_incorrect"})},
      {"images/maksssksksss0.png", "\x89PNG\r\n\x1a\n zero"},
      {"images/maksssksksss1.png", "\x89PNG\r\n\x1a\n one"}};
}

Tree kaggle_medical() {
  return {{"images/-1x-1.jpg", jpeg("-1x-1")},
          {"images/W 37.JPEG", jpeg("W 37")},
          {"labels/-1x-1.xml", voc("x.jpg", {"mask", "none"})},
          {"labels/W 37.xml", voc("y.jpg", {"poor"})}};
}

std::string mafa_train(int pictures) {
  std::vector<std::string> values;
  for (int i = 1; i <= pictures; ++i) {
    values.push_back(support::mat_text("orig.jpg"));
    values.push_back(support::mat_text(fmt::format("train_{:08d}.jpg", i)));
    values.push_back(support::mat_numbers({std::vector<double>(21, 1)}));
  }
  return support::mat_file(support::mat_struct({"orgImgName", "imgName", "label"}, values, "label_train"));
}

std::string mafa_test(int pictures) {
  std::vector<std::string> values;
  for (int i = 1; i <= pictures; ++i) {
    values.push_back(support::mat_text(fmt::format("test_{:08d}.jpg", i)));
    values.push_back(support::mat_numbers({std::vector<double>(18, 1)}));
  }
  return support::mat_file(support::mat_struct({"name", "label"}, values, "LabelTest"));
}

Tree mafa() {
  return {{"MAFA-Label-Train/LabelTrainAll.mat", mafa_train(3)},
          {"MAFA-Label-Test/LabelTestAll.mat", mafa_test(2)},
          {"train-images/images/train_00000001.jpg", jpeg("1")},
          {"train-images/images/train_00000003.jpg", jpeg("3")},
          {"test-images/images/test_00000001.jpg", jpeg("t1")},
          {"test-images/images/test_00000002.jpg", jpeg("t2")}};
}

Tree fddb() {
  return {{"FDDB-folds/FDDB-fold-01-ellipseList.txt",
           "2002/08/11/big/img_591\n1\n123.5 85.5 1.26 269.6 161.7  1\n2002/08/26/big/img_265\n1\n67.3 44.5 "
           "-1.4 105.2 87.2  1\n"},
          {"FDDB-folds/FDDB-fold-01.txt", "2002/08/11/big/img_591\n2002/08/26/big/img_265\n"},
          {"2002/08/11/big/img_591.jpg", jpeg("591")},
          {"2002/08/11/big/img_592.jpg", jpeg("592, in no fold")}};
}

const char kWiderText[] =
    "0--Parade/0_Parade_a_1.jpg\n1\n1 2 30 40 0 0 0 0 0 0\n9--Press_Conference/9_Press_b_2.jpg\n0\n0 0 0 0 0 "
    "0 0 0 0 0\n";

Tree wider() {
  return {{"wider_face_split/wider_face_train_bbx_gt.txt", kWiderText},
          {"WIDER_train/images/0--Parade/0_Parade_a_1.jpg", jpeg("a1")},
          {"WIDER_train/images/9--Press_Conference/9_Press_b_2.jpg", jpeg("b2")},
          {"WIDER_val/images/0--Parade/0_Parade_c_3.jpg", jpeg("c3")}};
}

std::string packed(const Tree& tree, const std::string& format = "zip", const std::string& filter = "none",
                   const std::string& prefix = "", const std::string& password = "") {
  std::vector<ArchiveMember> members;
  for (const auto& [path, content] : tree) members.push_back({prefix + path, content, ""});
  return make_archive(members, format, filter, password);
}

class OrganiseTest : public testing::Test {
 protected:
  void put(const std::string& folder, const Tree& tree) {
    for (const auto& [path, content] : tree) base::write_file(folder_ / "in" / folder / path, content);
  }
  void put_file(const std::string& path, const std::string& content) {
    base::write_file(folder_ / "in" / path, content);
  }

  OrganiseOptions options() {
    OrganiseOptions options;
    options.sources = {folder_ / "in"};
    options.to = folder_ / "sets";
    return options;
  }
  OrganiseReport run() { return organise(options()); }

  static PartStatus part(const OrganiseReport& report, const std::string& set, const std::string& name) {
    for (const PartStatus& line : report.parts) {
      if (line.set == set && line.part == name) return line;
    }
    ADD_FAILURE() << "no line " << set << " " << name;
    return {};
  }

  // All files below sets/, sorted; hidden ones left out.
  std::vector<std::string> files() {
    std::vector<std::string> names;
    if (!fs::exists(folder_ / "sets")) return names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "sets")) {
      const std::string name = fs::relative(entry.path(), folder_ / "sets").string();
      if (entry.is_regular_file() && !name.starts_with(".")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<std::string> expected_files() {
    return {"fddb/2002/08/11/big/img_591.jpg",
            "fddb/FDDB-folds/FDDB-fold-01-ellipseList.txt",
            "fddb/FDDB-folds/FDDB-fold-01.txt",
            "kaggle-medical/images/-1x-1.jpg",
            "kaggle-medical/images/W 37.jpeg",
            "kaggle-medical/labels/-1x-1.xml",
            "kaggle-medical/labels/W 37.xml",
            "kaggle/images/maksssksksss0.png",
            "kaggle/images/maksssksksss1.png",
            "kaggle/labels/maksssksksss0.xml",
            "kaggle/labels/maksssksksss1.xml",
            "mafa/MAFA-Label-Test/LabelTestAll.mat",
            "mafa/MAFA-Label-Train/LabelTrainAll.mat",
            "mafa/test-images/images/test_00000001.jpg",
            "mafa/test-images/images/test_00000002.jpg",
            "mafa/train-images/images/train_00000001.jpg",
            "mafa/train-images/images/train_00000003.jpg",
            "widerface/WIDER_train/images/0--Parade/0_Parade_a_1.jpg",
            "widerface/WIDER_train/images/9--Press_Conference/9_Press_b_2.jpg",
            "widerface/WIDER_val/images/0--Parade/0_Parade_c_3.jpg",
            "widerface/wider_face_split/wider_face_train_bbx_gt.txt"};
  }

  support::TempDir folder_;
};

TEST_F(OrganiseTest, FoldersAreLinkedIntoTheCanonicalLayout) {
  put("Kaggle Mask [2020]", kaggle());
  put("medical", kaggle_medical());
  put("MAFA Dataset", mafa());
  put("originalPics", fddb());
  put("w", wider());
  put_file("notes.txt", "hello");
  const OrganiseReport report = run();
  EXPECT_EQ(files(), expected_files());
  EXPECT_EQ(report.linked, report.chosen);
  EXPECT_EQ(report.bytes_to_write, 0u);
  EXPECT_EQ(report.unlisted, 1u);
  EXPECT_EQ(report.files, report.chosen + report.duplicates + report.unlisted + report.others);
  EXPECT_TRUE(fs::equivalent(folder_ / "in/w/wider_face_split/wider_face_train_bbx_gt.txt",
                             folder_ / "sets/widerface/wider_face_split/wider_face_train_bbx_gt.txt"));
  const PartStatus train = part(report, "mafa", "train pictures");
  EXPECT_EQ(train.state, PartState::kPartial);
  EXPECT_EQ(train.published, 25876u);
  EXPECT_EQ(train.missing, 1u);
  EXPECT_EQ(train.missing_examples, std::vector<std::string>{"train_00000002.jpg"});
  EXPECT_EQ(part(report, "mafa", "train labels").state, PartState::kPresent);
  EXPECT_EQ(part(report, "kaggle", "pictures").missing, 851u);
  EXPECT_EQ(part(report, "widerface", "val labels").state, PartState::kMissing);
}

TEST_F(OrganiseTest, ArchivesOfAnyKindAndNameGiveTheSame) {
  put_file("archive(1).bin", packed(kaggle(), "zip", "none", "archive/"));
  put_file("x.rar.tmp", packed(kaggle_medical(), "7zip"));
  put_file("a/b/MAFA.zip", packed({{"inner/train.tgz", packed(mafa(), "gnutar", "gzip", "MAFA Dataset/")}}));
  put_file("pics", packed(fddb(), "pax", "xz", "originalPics/"));
  put_file("w.tar", packed(wider(), "gnutar", "none", "C/"));
  const OrganiseReport report = run();
  EXPECT_EQ(files(), expected_files());
  EXPECT_EQ(report.written, report.chosen);
  EXPECT_EQ(report.archives, 6u);
  EXPECT_TRUE(report.archive_problems.empty());
  for (const auto& [path, content] : mafa())
    EXPECT_EQ(base::read_file(folder_ / "sets/mafa" / path), content);
  EXPECT_FALSE(fs::exists(folder_ / "sets/.maskfit-tmp"));
}

TEST_F(OrganiseTest, SecondRunWritesNothingAndAThirdOneOnlyWhatIsNew) {
  put_file("k.zip", packed(kaggle()));
  put("MAFA Dataset", mafa());
  const OrganiseReport first = run();
  const OrganiseReport second = run();
  EXPECT_EQ(second.were_there, first.chosen);
  EXPECT_EQ(second.linked + second.written + second.not_placed, 0u);
  put_file("MAFA Dataset/train-images/images/train_00000002.jpg", jpeg("2"));
  const OrganiseReport third = run();
  EXPECT_EQ(third.linked, 1u);
  EXPECT_EQ(part(third, "mafa", "train pictures").missing, 25876u - 3u);
  fs::remove(folder_ / "sets/kaggle/images/maksssksksss0.png");
  EXPECT_EQ(run().written, 1u);
}

TEST_F(OrganiseTest, DryRunWritesNothing) {
  put_file("k.zip", packed({{"in.7z", packed(kaggle(), "7zip")}}));
  put("MAFA Dataset", mafa());
  OrganiseOptions dry = options();
  dry.dry_run = true;
  const OrganiseReport report = organise(dry);
  EXPECT_EQ(report.chosen, 10u);
  EXPECT_GT(report.bytes_to_write, 0u);
  EXPECT_FALSE(fs::exists(folder_ / "sets"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

// R1: blanks, brackets, a path of 120 characters and a folder that is not there.
TEST_F(OrganiseTest, OddPathsWorkAndAMissingFolderStopsItBeforeAnythingIsWritten) {
  const std::string odd =
      "face data [v2] (copy)/" + std::string(60, 'x') + "/" + std::string(60, 'y') + "/it's 100%";
  put(odd + "/MAFA Dataset", mafa());
  OrganiseOptions two = options();
  two.sources.push_back(folder_ / "in" / "no such folder");
  try {
    organise(two);
    FAIL() << "it ran without the folder";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kUsage);
    EXPECT_THAT(error.where(), HasSubstr("no such folder"));
    EXPECT_THAT(error.hint(), HasSubstr((folder_ / "in").string()));
  }
  EXPECT_FALSE(fs::exists(folder_ / "sets"));
  EXPECT_EQ(run().linked, 6u);
}

TEST_F(OrganiseTest, HalfUnpackedFolderBesideItsArchiveGivesWholeFiles) {
  put_file("m.zip", packed(mafa(), "zip", "none", "MAFA/"));
  put("MAFA", {{"train-images/images/train_00000001.jpg", jpeg("1").substr(0, 9)},
               {"train-images/images/train_00000003.jpg", ""},
               {"test-images/images/test_00000001.jpg", jpeg("t1")}});
  const OrganiseReport report = run();
  EXPECT_EQ(base::read_file(folder_ / "sets/mafa/train-images/images/train_00000001.jpg"), jpeg("1"));
  EXPECT_EQ(base::read_file(folder_ / "sets/mafa/train-images/images/train_00000003.jpg"), jpeg("3"));
  EXPECT_EQ(report.linked, 1u);  // the whole one on disk needs no unpacking
  EXPECT_EQ(report.duplicates, 2u);
}

TEST_F(OrganiseTest, OtherPeoplesPicturesAndLabelsAreLeftAlone) {
  put("mine", {{"images/a.jpg", jpeg("a")},
               {"labels/a.xml", voc("a.jpg", {"mask", "face"})},
               {"b.jpg", jpeg("b")},
               {"b.xml", voc("b.jpg", {"mask"})},
               {"c/c.xml", voc("c.jpg", {"with_mask", "without_mask"})},
               {"train_00000001.jpg", jpeg("numbered alike")},
               {"2002/img_1.jpg", jpeg("no path of FDDB")},
               {"0--Parade/x.jpg", jpeg("no name of WIDER FACE")}});
  const OrganiseReport report = run();
  EXPECT_EQ(report.chosen, 0u);
  EXPECT_EQ(report.others, report.files);
  EXPECT_FALSE(fs::exists(folder_ / "sets"));
}

TEST_F(OrganiseTest, WiderSplitIsFoundByWhereThePicturesLieWhenTheNameDoesNotTell) {
  put("w", {{"labels.txt", kWiderText},
            {"WIDER_val/images/0--Parade/0_Parade_a_1.jpg", jpeg("a1")},
            {"flat/9--Press_Conference/9_Press_b_2.jpg", jpeg("b2")}});
  run();
  EXPECT_EQ(files(),
            (std::vector<std::string>{"widerface/WIDER_val/images/0--Parade/0_Parade_a_1.jpg",
                                      "widerface/WIDER_val/images/9--Press_Conference/9_Press_b_2.jpg",
                                      "widerface/wider_face_split/wider_face_val_bbx_gt.txt"}));
}

TEST_F(OrganiseTest, DangerousArchivesAreNamedAndTheRestIsUsed) {
  put_file("1-traversal.zip",
           make_archive({{"../../MAFA/train-images/images/train_00000001.jpg", jpeg("evil"), ""},
                         {"MAFA/link.jpg", "", "/etc/passwd"}},
                        "zip"));
  put_file("2-locked.zip", packed(kaggle(), "zip", "none", "", "secret"));
  const std::string whole = packed(wider(), "gnutar");
  put_file("3-torn.tar", whole.substr(0, whole.size() / 2));
  put_file("4-page.zip", "<!DOCTYPE html><html><title>Sign in</title>");
  put_file("5-bomb.zip",
           make_archive({{"MAFA/zeros.jpg", "\xff\xd8\xff" + std::string(90 << 20, '\0'), ""}}, "zip"));
  put_file("6-half.zip.crdownload", "PK");
  put_file("7.zip.001", "xx");
  put_file("8.7z", std::string(5000, 'z'));
  put("MAFA Dataset", mafa());
  const OrganiseReport report = run();
  std::vector<fetch::ArchiveFault> faults;
  for (const auto& problem : report.archive_problems) faults.push_back(problem.fault);
  using enum fetch::ArchiveFault;
  EXPECT_THAT(faults, testing::ElementsAre(kEscape, kLinks, kEncrypted, kTorn, kBomb));
  EXPECT_EQ(report.findings.size(), 4u);
  EXPECT_EQ(base::read_file(folder_ / "sets/mafa/train-images/images/train_00000001.jpg"), jpeg("1"));
  EXPECT_TRUE(fs::exists(folder_ / "sets/widerface/wider_face_split/wider_face_train_bbx_gt.txt"));
  EXPECT_FALSE(fs::exists(folder_ / "sets/kaggle"));
}

TEST_F(OrganiseTest, NothingOfABombIsUsed) {
  put_file("b.zip",
           make_archive({{"MAFA/train_00000001.jpg", jpeg("1"), ""},
                         {"MAFA/train_00000002.jpg", "\xff\xd8\xff" + std::string(90 << 20, '\0'), ""}},
                        "zip"));
  const OrganiseReport report = run();
  EXPECT_EQ(report.chosen, 0u);
  EXPECT_FALSE(fs::exists(folder_ / "sets"));
}

TEST_F(OrganiseTest, DifferentFileInTheLayoutStaysUnlessForced) {
  put("MAFA Dataset", mafa());
  base::write_file(folder_ / "sets/mafa/train-images/images/train_00000001.jpg", jpeg("somebody's own"));
  const OrganiseReport report = run();
  EXPECT_EQ(report.not_placed, 1u);
  EXPECT_THAT(report.findings.at(0).remedy, HasSubstr("--force"));
  OrganiseOptions force = options();
  force.overwrite = true;
  EXPECT_EQ(organise(force).linked, 1u);
  EXPECT_EQ(base::read_file(folder_ / "sets/mafa/train-images/images/train_00000001.jpg"), jpeg("1"));
}

TEST_F(OrganiseTest, NamesThatDifferInCaseOnlyAreSaid) {
  put("k", {{"images/a.jpg", jpeg("a")},
            {"images/A.jpg", jpeg("A")},
            {"labels/a.xml", voc("a.jpg", {"good"})},
            {"labels/A.xml", voc("A.jpg", {"bad"})}});
  const OrganiseReport report = run();
  EXPECT_EQ(report.linked, 4u);
  EXPECT_EQ(report.findings.size(), 2u);
}

TEST_F(OrganiseTest, BrokenLabelFileIsNamedAndIsNoPart) {
  const std::string mat = mafa_train(3);
  put("m", {{"LabelTrainAll.mat", mat.substr(0, mat.size() / 2)}});
  put("k", kaggle());
  const OrganiseReport report = run();
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings.at(0).file, HasSubstr("LabelTrainAll.mat"));
  EXPECT_EQ(part(report, "mafa", "train labels").state, PartState::kMissing);
}

TEST_F(OrganiseTest, SetsAsTheirOwnSourceStayAsTheyAre) {
  put("m", mafa());
  run();
  OrganiseOptions again = options();
  again.sources = {folder_ / "sets"};
  const OrganiseReport report = organise(again);
  EXPECT_EQ(report.were_there, 6u);
  EXPECT_EQ(report.linked + report.written, 0u);
}

TEST_F(OrganiseTest, CtrlCLeavesWholeFilesOnly) {
  put_file("m.zip", packed(mafa()));
  std::atomic<bool> stop{false};
  OrganiseOptions stoppable = options();
  stoppable.stop = base::StopToken(&stop);
  stoppable.progress = [&](const fetch::Progress& progress) { stop = progress.what == "laying out"; };
  EXPECT_THROW(organise(stoppable), base::Error);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_FALSE(fs::exists(folder_ / "sets/.maskfit-tmp"));
  EXPECT_EQ(run().written, 5u);
}

TEST_F(OrganiseTest, NoRoomIsSaidBeforeAnythingIsWritten) {
  put_file("m.zip", packed(mafa()));
  OrganiseOptions full = options();
  full.spare_disk_bytes = ~std::uint64_t{0} / 2;
  EXPECT_THROW(organise(full), base::Error);
  EXPECT_FALSE(fs::exists(folder_ / "sets"));
}

TEST_F(OrganiseTest, TextTellsWhatIsMissingWhereItIsAndWhatComesNext) {
  put("MAFA Dataset", mafa());
  const std::string text = organise_text(run(), "my sets", false);
  EXPECT_THAT(
      text,
      HasSubstr("mafa            train pictures  partial        2     25876  1 missing: train_00000002.jpg"));
  EXPECT_THAT(text, HasSubstr("maskfit data get widerface"));
  EXPECT_THAT(text, HasSubstr("maskfit data import 'my sets/mafa' --to data/mafa"));
  EXPECT_THAT(text, Not(HasSubstr("kaggle-medical")));
}

TEST(Recognise, PlacesInASet) {
  EXPECT_EQ(kaggle_number("maksssksksss17"), 17);
  EXPECT_EQ(kaggle_number("maksssksksss"), -1);
  EXPECT_EQ(kaggle_number("maksssksksss99999999999"), -1);
  EXPECT_EQ(fddb_path("x/2002/08/11/big/img_591.jpg"), "2002/08/11/big/img_591");
  EXPECT_EQ(fddb_path("2002/08/11/img_591.jpg"), "");
  EXPECT_EQ(wider_path("a/0--Parade/0_Parade_x.JPG"), "0--Parade/0_Parade_x.JPG");
  EXPECT_EQ(wider_path("a/1--Parade/0_Parade_x.jpg"), "");
  EXPECT_EQ(mafa_name("a/TRAIN_00000001.JPG"), "train_00000001.jpg");
  EXPECT_EQ(mafa_name("train_1.jpg"), "");
}

}  // namespace
}  // namespace maskfit::dataset
