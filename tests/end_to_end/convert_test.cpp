// One data set through every label format and back, with the binary alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "dataset/dataset.h"
#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using support::maskfit;
using support::Outcome;
using testing::HasSubstr;

// What must survive, by split and picture name: ids hold the folders of each layout.
using Content = std::map<std::string, std::vector<dataset::LabeledBox>>;

Content content(const dataset::Dataset& dataset) {
  Content boxes;
  for (const dataset::Sample& sample : dataset.samples)
    boxes[sample.split + "/" + sample.image.filename().string()] = sample.boxes;
  return boxes;
}

void expect_alike(const Content& found, const Content& wanted, float tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, boxes] : wanted) {
    ASSERT_TRUE(found.contains(name)) << name;
    const auto& others = found.at(name);
    ASSERT_EQ(others.size(), boxes.size()) << name;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_EQ(others[i].class_name, boxes[i].class_name) << name;
      EXPECT_EQ(others[i].ignore, boxes[i].ignore) << name;
      const boxes::Box &a = others[i].box_in_image, &b = boxes[i].box_in_image;
      for (const float difference : {a.x1 - b.x1, a.y1 - b.y1, a.x2 - b.x2, a.y2 - b.y2})
        EXPECT_LT(std::abs(difference), tolerance) << name;
    }
  }
}

// VOC -> COCO -> YOLO -> KITTI -> VOC, an import after each; every step from the one before.
void go_round(const fs::path& first, const support::TempDir& folder) {
  const Content wanted = content(dataset::read_dataset(first));
  const std::size_t classes = dataset::read_dataset(first).class_names.size();
  fs::path from = first;
  for (const std::string format : {"voc", "coco", "yolo", "kitti", "voc"}) {
    const fs::path out = folder / (from.filename().string() + "-" + format), set = out.string() + "-set";
    const Outcome converted =
        maskfit({"data", "convert", from.string(), "--to", format, "-o", out.string(), "--force"});
    ASSERT_EQ(converted.status, 0) << converted.err;
    const Outcome imported = maskfit({"data", "import", out.string(), "--from", format, "--to", set.string(),
                                      "--check", "header", "--classes", "*"});
    ASSERT_EQ(imported.status, 0) << format << imported.err;
    const dataset::Dataset back = dataset::read_dataset(set);
    EXPECT_EQ(back.class_names.size(), classes) << format;
    expect_alike(content(back), wanted, 2e-3f);
    from = set;
  }
}

TEST(Convert, DrawnDataSurvivesEveryFormat) {
  support::TempDir folder;
  support::write_tiny_data(folder / "set");
  go_round(folder / "set", folder);
}

TEST(Convert, RealDataSurvivesEveryFormat) {
  const fs::path data = support::shared_data();
  if (data.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  support::TempDir folder;
  const fs::path set = folder / "set";
  const Outcome imported =
      maskfit({"data", "import", (data / "masks640").string(), "--to", set.string(), "--check", "header"});
  ASSERT_EQ(imported.status, 0) << imported.err;
  go_round(set, folder);
}

TEST(Convert, KilledConversionLeavesNoOutput) {
  support::TempDir folder;
  support::write_tiny_data(folder / "set");
  const fs::path out = folder / "out";
  const Outcome killed = support::run_process({"timeout", "--signal=KILL", "0.02", MASKFIT_BINARY, "data",
                                               "convert", (folder / "set").string(), "--to", "voc", "-o",
                                               out.string(), "--pictures", "copy"});
  // Killed early or done: there is no half of it, and the next run is not disturbed by what is left.
  if (killed.status != 0) {
    EXPECT_FALSE(fs::exists(out));
  }
  const Outcome again =
      maskfit({"data", "convert", (folder / "set").string(), "--to", "voc", "-o", out.string(), "--force"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(fs::exists(out / "conversion.json"));
}

TEST(Convert, KaggleFolderBecomesKitti) {
  const fs::path data = support::shared_data();
  if (data.empty()) GTEST_SKIP() << "no ../shared/data beside the checkout";
  support::TempDir folder;
  const Outcome outcome =
      maskfit({"data", "kitti", "--kaggle-dataset-path", (data / "raw/andrewmvd").string(),
               "--kitti-base-path", folder.path().string(), "--train", "--category-limit", "50",
               "--tlt-input-dims_width", "192", "--tlt-input-dims_height", "112"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("labels in annotations/"));
  EXPECT_THAT(outcome.out, HasSubstr("Final: Total Mask Labelled:50"));
}

}  // namespace
}  // namespace maskfit
