// `maskfit data kitti` and `data convert --spec` from their words to files and exit codes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "cli/app.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

class DataKitti : public testing::Test {
 protected:
  DataKitti() {
    for (const char* name : {"a", "b"}) {
      image::write_image(folder_ / "k d/images" / (std::string(name) + ".jpg"),
                         {48, 27, 3, std::vector<std::uint8_t>(48 * 27 * 3, 80)});
    }
    const std::string head = "<annotation><object><name>",
                      tail =
                          "</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>11</xmax><ymax>22</ymax></"
                          "bndbox></object></annotation>";
    base::write_file(folder_ / "k d/labels/a.xml", head + "mask" + tail);
    base::write_file(folder_ / "k d/labels/b.xml", head + "none" + tail);
  }

  Outcome data(std::vector<std::string> words) {
    words.insert(words.begin(), "data");
    std::ostringstream out, err;
    testing::internal::CaptureStdout();
    const int code = run(words, command_table(), out, err);
    return {code, testing::internal::GetCapturedStdout() + out.str(), err.str()};
  }

  Outcome kitti(const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "kitti",     "--kaggle-dataset-path",  path("k d"), "--kitti-base-path",
        path("out"), "--tlt-input-dims_width", "96",        "--tlt-input-dims-height",
        "54"};
    words.insert(words.end(), more.begin(), more.end());
    return data(words);
  }

  std::string path(const std::string& name) { return (folder_ / name).string(); }

  support::TempDir folder_;
};

TEST_F(DataKitti, PrintsTheReferencesLinesAndThenItsOwn) {
  const Outcome outcome = kitti({"--train", "--category-limit", "10"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Kaggle Dataset: Total Mask faces: 1 and No-Mask faces:1\n"
                                     "Total Mask Labelled:1 and No-Mask Labelled:1\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Final: Total Mask Labelled:1\nTotal No-Mask Labelled:1\n"));
  EXPECT_EQ(image::read_image_size(fs::directory_iterator(folder_ / "out/train/images")->path()),
            (image::Size{96, 54}));
}

TEST_F(DataKitti, ModesExcludeEachOtherAndOneIsNeeded) {
  EXPECT_EQ(kitti({}).code, 2);
  EXPECT_EQ(kitti({"--train", "--val"}).code, 2);
  EXPECT_EQ(kitti({"--val"}).code, 2);  // Kaggle has no validation part
  EXPECT_EQ(kitti({"--train", "--category-limit", "many"}).code, 2);
  EXPECT_EQ(kitti({"--train", "--mafa-dataset-path", path("nowhere")}).code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(DataKitti, PictureThatCannotBeReadIsExitCode1AtTheEnd) {
  base::write_file(folder_ / "k d/images/b.jpg", "GIF89a");
  const Outcome outcome = kitti({"--train"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("Kaggle Dataset: Total Mask faces: 1 and No-Mask faces:0"));
  EXPECT_EQ(kitti({"--train"}).code, 1);
  EXPECT_THAT(kitti({"--train"}).err, HasSubstr("--overwrite"));
}

TEST_F(DataKitti, CheckLabelsDrawsAFile) {
  ASSERT_EQ(kitti({"--train", "--reference-exact"}).code, 0);
  const Outcome outcome = kitti({"--check_labels", "--label_filename", "b", "--check-file", path("b.png")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Bounding Box [[2, 4, 22, 44]]\nCategory: [\"No-Mask\"]"));
  EXPECT_EQ(image::read_image_size(folder_ / "b.png"), (image::Size{96, 54}));
  EXPECT_EQ(kitti({"--check_labels", "--label-filename", "b", "--check-file", path("b.png")}).code, 1);
  EXPECT_EQ(kitti({"--check-labels", "--label_filename", "none", "--check-file", path("n.png")}).code, 3);
}

TEST_F(DataKitti, SpecOfDatasetConvertGivesRecords) {
  ASSERT_EQ(kitti({"--train"}).code, 0);
  base::write_file(folder_ / "spec.txt",
                   "kitti_config { root_directory_path: \"out/train\" image_dir_name: \"images\" "
                   "label_dir_name: \"labels\" image_extension: \".jpg\" partition_mode: \"random\" "
                   "num_partitions: 2 val_split: 50 num_shards: 1 }\n");
  const Outcome outcome = data({"convert", "--spec", path("spec.txt"), "-o", path("rec/kitti")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fold 0: 1 frames in 1 files"));
  EXPECT_TRUE(fs::exists(folder_ / "rec/kitti-fold-001-of-002-shard-00000-of-00001"));
  EXPECT_EQ(data({"convert", path("out/train"), "--spec", path("spec.txt"), "-o", path("x")}).code, 2);
  EXPECT_EQ(data({"convert", "-o", path("x")}).code, 2);
  EXPECT_EQ(data({"convert", "--spec", path("none.txt"), "-o", path("x")}).code, 1);
}

}  // namespace
}  // namespace maskfit::cli
