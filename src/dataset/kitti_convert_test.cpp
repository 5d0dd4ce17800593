// Small trees in the published layouts, converted as a whole.

#include "dataset/kitti_convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "dataset/kitti_check.h"
#include "formats/kitti.h"
#include "tests/support/mat_writer.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;

using Row = std::vector<double>;

std::string voc(const std::vector<std::pair<std::string, std::string>>& objects) {
  std::string text = "<annotation>";
  for (const auto& [name, box] : objects) {
    const auto side = base::split_words(box);
    text += fmt::format(
        "<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>"
        "</object>",
        name, side[0], side[1], side[2], side[3]);
  }
  return text + "</annotation>";
}

Row mafa_train(Row box, int type, int degree) {
  Row row(21, -1);
  std::copy(box.begin(), box.end(), row.begin());
  row[12] = type;
  row[13] = degree;
  return row;
}

class KittiTree : public testing::Test {
 protected:
  KittiTree() {
    options_.base = folder_ / "out";
    options_.selection.output = {96, 54};
  }

  void picture(const std::string& name, int width = 48, int height = 27) {
    const std::string bytes = image::encode_jpeg(
        {width, height, 3, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height) * 3, 90)});
    base::write_file(folder_ / name, bytes);
  }

  void write_kaggle() {
    options_.roots[KittiSet::kKaggle] = folder_ / "k";
    for (const char* name : {"a.jpg", "a.png", "A.JPG", "b.jpeg", "bad.jpg", "unlabelled.jpg"})
      picture(std::string("k/images/") + name);
    base::write_file(folder_ / "k/images/bad.jpg", "no picture");
    base::write_file(folder_ / "k/images/Thumbs.db", "x");
    base::write_file(folder_ / "k/labels/a.xml", voc({{"mask", "1 2 11.5 22"}}));
    base::write_file(folder_ / "k/labels/A.xml", voc({{"none", "1 2 11 22"}}));
    base::write_file(folder_ / "k/labels/b.xml",
                     voc({{"mask", "1 2 11 22"}, {"mask_weared_incorrect", "5 5 9 9"}}));
    base::write_file(folder_ / "k/labels/bad.xml", voc({{"mask", "1 2 11 22"}}));
  }

  void write_mafa() {
    options_.roots[KittiSet::kMafa] = folder_ / "MAFA [set]/";
    const auto entry = [&](const std::string& name, const std::vector<Row>& rows) {
      return std::vector<std::string>{support::mat_text("o"), support::mat_text(name),
                                      support::mat_numbers(rows)};
    };
    std::vector<std::string> values;
    for (const auto& list :
         {entry("train_1.jpg", {mafa_train({1, 2, 10, 20}, 1, 3)}),
          entry("train_2.jpg", {mafa_train({1, 2, 10, 20}, 2, 3)}),   // portrait
          entry("train_3.jpg", {mafa_train({1, 2, 10, 20}, -1, 3)}),  // unknown occluder
          entry("train_4.jpg", {mafa_train({1, 2, 10, 20}, 3, 1), mafa_train({40, 20, 20, 20}, 1, 3)})}) {
      values.insert(values.end(), list.begin(), list.end());
    }
    base::write_file(
        folder_ / "MAFA [set]/MAFA-Label-Train/LabelTrainAll.mat",
        support::mat_file(support::mat_struct({"orgImgName", "imgName", "label"}, values, "label_train")));
    for (int i = 1; i <= 4; ++i) {
      picture(fmt::format("MAFA [set]/train-images/images/train_{}.jpg", i), i == 2 ? 20 : 48);
    }
  }

  void write_fddb() {
    options_.roots[KittiSet::kFddb] = folder_ / "f";
    base::write_file(folder_ / "f/FDDB-folds/FDDB-fold-01-ellipseList.txt",
                     "2002/08/11/big/img_1\n2\n6 4 0.0 10 12 1\n6 4 1.5708 30 12 1\n"
                     "2003/01/02/big/img_1\n1\n6 4 0.0 2 12 1\n");
    base::write_file(folder_ / "f/FDDB-folds/FDDB-fold-01.txt", "2002/08/11/big/img_1\n");
    picture("f/2002/08/11/big/img_1.jpg");
    picture("f/2003/01/02/big/img_1.jpg");
  }

  void write_wider() {
    options_.roots[KittiSet::kWider] = folder_ / "w";
    base::write_file(folder_ / "w/wider_face_split/wider_face_train_bbx_gt.txt",
                     "0--Parade/p.jpg\n1\n1 2 10 10 0 0 0 0 0 0\n"
                     "2--Demonstration/one.jpg\n2\n1 2 10 10 0 0 0 0 0 0\n0 0 0 0 0 0 0 1 0 0\n"
                     "2--Demonstration/occluded.jpg\n2\n1 2 10 10 0 0 0 0 0 0\n20 2 10 10 0 0 0 0 2 0\n"
                     "4--Dancing/none.jpg\n0\n0 0 0 0 0 0 0 0 0 0\n");
    for (const char* name :
         {"0--Parade/p", "2--Demonstration/one", "2--Demonstration/occluded", "4--Dancing/none"})
      picture(fmt::format("w/WIDER_train/images/{}.jpg", name));
  }

  std::map<std::string, std::string> labels(const std::string& part = "train") const {
    std::map<std::string, std::string> list;
    for (const auto& entry : fs::directory_iterator(options_.base / part / "labels")) {
      const std::string name = entry.path().stem().string();
      EXPECT_TRUE(fs::exists(options_.base / part / "images" / (name + ".jpg"))) << name;
      list[name] = base::read_file(entry.path());
    }
    return list;
  }

  // Names without the hash in front.
  static std::vector<std::string> plain(const std::map<std::string, std::string>& labels) {
    std::vector<std::string> names;
    for (const auto& [name, text] : labels) names.push_back(name.substr(9));
    std::sort(names.begin(), names.end());
    return names;
  }

  support::TempDir folder_;
  KittiOptions options_;
};

TEST_F(KittiTree, KaggleTwinsStayApartAndFaultsDoNotEndTheRun) {
  write_kaggle();
  const KittiReport report = convert_to_kitti(options_);
  EXPECT_THAT(plain(labels()), ElementsAre("kaggle_A", "kaggle_a", "kaggle_a"));
  ASSERT_EQ(report.sets.size(), 1u);
  EXPECT_EQ(report.sets[0].counts, (FaceCounts{2, 1}));
  EXPECT_EQ(report.sets[0].failed, 1);
  EXPECT_EQ(report.sets[0].skipped.at("a face that gets no label"), 1);
  EXPECT_THAT(report.sets[0].note, HasSubstr("'mask_weared_incorrect' gets no label (1)"));
  for (const auto& [name, text] : labels()) {
    if (name.ends_with("_a")) EXPECT_EQ(text, "mask 0 0 0 2.00 4.00 23.00 44.00 0 0 0 0 0 0 0\n");
  }
  std::string aside;
  for (const base::Finding& finding : report.findings) aside += finding.file + " ";
  EXPECT_THAT(aside, HasSubstr("Thumbs.db"));
  EXPECT_THAT(aside, HasSubstr("unlabelled.jpg"));
  EXPECT_THAT(aside, HasSubstr("bad.jpg"));
}

TEST_F(KittiTree, AnnotationsFolderIsAcceptedAndSaid) {
  write_kaggle();
  fs::rename(folder_ / "k/labels", folder_ / "k/annotations");
  const KittiReport report = convert_to_kitti(options_);
  EXPECT_THAT(report.sets[0].note, HasSubstr("annotations/"));
  EXPECT_EQ(report.sets[0].pictures, 3);
}

TEST_F(KittiTree, MafaRulesPortraitAndClipping) {
  write_mafa();
  const KittiReport report = convert_to_kitti(options_);
  EXPECT_THAT(plain(labels()), ElementsAre("mafa_train_1", "mafa_train_4"));
  EXPECT_EQ(report.sets[0].counts, (FaceCounts{2, 1}));
  EXPECT_EQ(report.sets[0].skipped.at("portrait"), 1);
  EXPECT_EQ(report.sets[0].skipped.at("no face of use"), 1);
  for (const auto& [name, text] : labels()) {
    if (name.ends_with("4")) EXPECT_THAT(text, HasSubstr("mask 0 0 0 80.00 40.00 96.00 54.00"));
  }
  options_.overwrite = true;
  options_.selection.keep_portrait = true;
  EXPECT_EQ(convert_to_kitti(options_).sets[0].pictures, 3);
}

TEST_F(KittiTree, FddbCountsFacesAndKeepsEqualNamesApart) {
  write_fddb();
  const KittiReport report = convert_to_kitti(options_);
  EXPECT_EQ(report.sets[0].counts, (FaceCounts{0, 3}));
  EXPECT_THAT(plain(labels()), ElementsAre("fddb_2002_08_11_big_img_1", "fddb_2003_01_02_big_img_1"));
  for (const auto& [name, text] : labels()) {
    if (name.ends_with("2003_01_02_big_img_1"))
      EXPECT_EQ(text, "no-mask 0 0 0 0.00 16.00 16.00 32.00 0 0 0 0 0 0 0\n");
  }
}

TEST_F(KittiTree, WiderDropsZeroSizesAndSkipsWhatHasOccludedFaces) {
  write_wider();
  const KittiReport report = convert_to_kitti(options_);
  EXPECT_THAT(plain(labels()), ElementsAre("wider_2--Demonstration_one"));
  EXPECT_EQ(report.sets[0].dropped, 1);
  options_.overwrite = true;
  options_.selection.excluded = ExcludedFaces::kDontCare;
  EXPECT_EQ(convert_to_kitti(options_).sets[0].dont_care, 1);
  for (const auto& [name, text] : labels()) {
    if (name.ends_with("occluded")) EXPECT_THAT(text, HasSubstr("DontCare 0 0 0 40.00 4.00 60.00 24.00"));
  }
  options_.selection.excluded = ExcludedFaces::kBackground;
  EXPECT_EQ(convert_to_kitti(options_).sets[0].pictures, 2);
}

TEST_F(KittiTree, LimitHoldsOverAllSetsExactly) {
  write_kaggle();
  write_mafa();
  write_fddb();
  write_wider();
  for (std::int64_t limit : {0, 1, 2, 3, 4, 5}) {
    options_.limit = limit;
    options_.overwrite = true;
    const KittiReport report = convert_to_kitti(options_);
    EXPECT_LE(report.total().mask, limit);
    EXPECT_LE(report.total().no_mask, limit);
    std::int64_t mask = 0, no_mask = 0;
    for (const auto& [name, text] : labels()) {
      for (const std::string& line : base::split(text, '\n')) {
        mask += line.starts_with("mask") ? 1 : 0;
        no_mask += line.starts_with("no-mask") ? 1 : 0;
      }
    }
    EXPECT_EQ(report.total(), (FaceCounts{mask, no_mask})) << limit;
  }
}

TEST_F(KittiTree, SecondRunIsTheSameAndNeedsPermission) {
  write_kaggle();
  write_fddb();
  convert_to_kitti(options_);
  const auto first = labels();
  const std::string pictures = base::read_file(options_.base / "train/pictures.jsonl");
  EXPECT_THROW(convert_to_kitti(options_), base::Error);
  base::write_file(options_.base / "train/labels/stale.txt", "");
  base::write_file(options_.base / "train/images/stale.jpg", "");
  options_.overwrite = true;
  convert_to_kitti(options_);
  EXPECT_EQ(labels(), first);
  EXPECT_EQ(base::read_file(options_.base / "train/pictures.jsonl"), pictures);
  EXPECT_THAT(pictures, HasSubstr(R"("resize":"stretch","scale_x":2.0,"scale_y":2.0)"));
  base::write_file(options_.base / "train/images/notes.doc", "mine");
  EXPECT_THROW(convert_to_kitti(options_), base::Error);
  EXPECT_TRUE(fs::exists(options_.base / "train/images/notes.doc"));
}

TEST_F(KittiTree, EveryMissingPartIsNamedBeforeAnythingIsWritten) {
  options_.roots = {{KittiSet::kMafa, folder_ / "m"}, {KittiSet::kFddb, folder_ / "f"}};
  try {
    convert_to_kitti(options_);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("LabelTrainAll.mat"));
    EXPECT_THAT(error.what(), HasSubstr("train-images/images"));
    EXPECT_THAT(error.what(), HasSubstr("FDDB-folds"));
  }
  EXPECT_FALSE(fs::exists(options_.base));
}

TEST_F(KittiTree, BadRequestsAreUsageErrors) {
  EXPECT_THROW(convert_to_kitti(options_), base::Error);  // no set
  write_fddb();
  options_.part = KittiPart::kVal;
  EXPECT_THROW(convert_to_kitti(options_), base::Error);  // FDDB has no validation part
  options_.part = KittiPart::kTrain;
  options_.selection.output = {0, 54};
  EXPECT_THROW(convert_to_kitti(options_), base::Error);
  options_.selection.output = {96, 54};
  options_.base = "";
  EXPECT_THROW(convert_to_kitti(options_), base::Error);
  options_.roots[KittiSet::kFddb] = folder_ / "f";
  options_.base = folder_.path();
  options_.val_folder = "test";
  fs::rename(folder_ / "f", folder_ / "train");
  options_.roots[KittiSet::kFddb] = folder_ / "train";
  EXPECT_THROW(convert_to_kitti(options_), base::Error);  // the output folder is the set's own
}

TEST_F(KittiTree, ReferenceModeHasTheFaultsOfTheOriginal) {
  write_kaggle();
  write_mafa();
  write_fddb();
  options_.selection.rules = KittiRules::kReference;
  options_.limit = 100;
  const KittiReport report = convert_to_kitti(options_);
  ASSERT_EQ(report.sets.size(), 3u);
  EXPECT_EQ(report.sets[0].counts.mask, 3);              // a.jpg, a.png, b.jpeg; A.JPG is not seen
  EXPECT_EQ(report.sets[0].overwritten, 1);              // a.png over a.jpg
  EXPECT_EQ(report.sets[1].counts, (FaceCounts{4, 1}));  // the portrait and the unknown ones, too
  EXPECT_EQ(report.sets[1].written, (FaceCounts{3, 1}));
  EXPECT_EQ(report.sets[2].counts, (FaceCounts{0, 2}));  // pictures, not faces
  EXPECT_EQ(report.sets[2].overwritten, 1);
  const auto written = labels();
  EXPECT_EQ(written.at("b"), "Mask 0 0 0 2 4 22 44 0 0 0 0 0 0 0\n");
  EXPECT_EQ(written.at("train_4"),
            "No-Mask 0 0 0 2 4 22 44 0 0 0 0 0 0 0\nMask 0 0 0 80 40 120 80 0 0 0 0 0 0 0\n");
}

TEST_F(KittiTree, LetterboxKeepsTheAspectRatio) {
  options_.roots[KittiSet::kFddb] = folder_ / "f";
  base::write_file(folder_ / "f/FDDB-folds/FDDB-fold-01-ellipseList.txt", "2002/a\n1\n6 6 0.0 10 12 1\n");
  picture("f/2002/a.jpg", 27, 27);
  options_.selection.letterbox = true;
  convert_to_kitti(options_);
  EXPECT_EQ(labels().begin()->second, "no-mask 0 0 0 8.00 12.00 32.00 36.00 0 0 0 0 0 0 0\n");
  const image::Image drawn =
      image::read_image(options_.base / "train/images" / (labels().begin()->first + ".jpg"));
  EXPECT_EQ(drawn.width, 96);
  EXPECT_NEAR(drawn.row(27)[3 * 20], 90, 4);
  EXPECT_NEAR(drawn.row(27)[3 * 80], 128, 4);
}

TEST_F(KittiTree, StopLeavesWholePairs) {
  write_kaggle();
  write_fddb();
  std::atomic<bool> stop{false};
  options_.stop = base::StopToken(&stop);
  KittiObserver observer;
  observer.set_done = [&](const KittiSetReport&) { stop = true; };
  EXPECT_THROW(convert_to_kitti(options_, observer), base::Error);
  EXPECT_EQ(labels().size(), 3u);
}

TEST_F(KittiTree, CheckedLabelsAreDrawnInEitherPart) {
  write_fddb();
  options_.upstream_classes = true;
  convert_to_kitti(options_);
  const std::string name = labels().begin()->first;
  const CheckedLabels checked = check_labels(options_.base, name);
  EXPECT_EQ(checked.labels.at(0).class_name, "No-Mask");
  const formats::KittiLabel& label = checked.labels[0];
  const auto* pixel = checked.drawn.row(static_cast<int>(label.box_in_image.y1)) +
                      3 * static_cast<int>((label.box_in_image.x1 + label.box_in_image.x2) / 2);
  EXPECT_GT(pixel[0], 200);
  EXPECT_LT(pixel[1], 50);
  fs::rename(options_.base / "train", options_.base / "test");
  EXPECT_EQ(check_labels(options_.base, name).labels.size(), checked.labels.size());
  EXPECT_THROW(check_labels(options_.base, "none"), base::Error);
}

}  // namespace
}  // namespace maskfit::dataset
