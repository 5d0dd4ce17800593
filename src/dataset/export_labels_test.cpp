// Datasets in other formats: what is written, what is lost, and that it reads back.

#include "dataset/export_labels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dataset/import.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExportLabels : public testing::Test {
 protected:
  ExportLabels() {
    dataset_.root = folder_ / "set";
    dataset_.class_names = {"no-mask", "mask"};  // an order of its own
    add("train/images/a b%", "train", {box({1, 2, 30, 25}, "mask"), box({3.25f, 4.5f, 9.1f, 11}, "no-mask")});
    add("train/images/caf\xC3\xA9", "train", {});
    add("val/images/1", "val", {box({0, 0, 40, 30}, "mask"), box({5, 5, 20, 20}, "worn wrong", true)});
    add("other/1", "test", {box({7, 8, 9, 30}, "no-mask")});
    write_dataset(dataset_, {}, "made by a test");
  }

  static LabeledBox box(boxes::Box b, const std::string& name, bool ignore = false) {
    return {b, name, ignore, {}};
  }

  void add(const std::string& id, const std::string& split, std::vector<LabeledBox> boxes) {
    Sample sample{id, folder_ / "pictures" / (id + ".png"), 40, 30, std::move(boxes), split, ""};
    base::write_file(sample.image, image::encode_png({40, 30, 3, std::vector<std::uint8_t>(3600, 9)}));
    dataset_.samples.push_back(std::move(sample));
    normalise(dataset_);
  }

  ExportResult convert(ExportFormat format, ExportOptions::Pictures pictures = ExportOptions::Pictures::kLink,
                       base::Overwrite overwrite = base::Overwrite::kRefuse) {
    ExportOptions options;
    options.folder = folder_ / "out";
    options.format = format;
    options.pictures = pictures;
    options.overwrite = overwrite;
    return export_labels(dataset_, options);
  }

  std::vector<std::string> files() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out")) {
      if (entry.is_regular_file()) list.push_back(entry.path().lexically_relative(folder_ / "out").string());
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  std::string text(const std::string& name) const { return base::read_file(folder_ / "out" / name); }

  static std::vector<std::string> kinds(const ExportResult& result) {
    std::vector<std::string> list;
    for (const ExportLoss& loss : result.losses) list.push_back(loss.what);
    return list;
  }

  support::TempDir folder_;
  Dataset dataset_;
};

TEST_F(ExportLabels, KittiLayoutAndLines) {
  const ExportResult result = convert(ExportFormat::kKitti);
  EXPECT_THAT(files(), ElementsAre("conversion.json", "test/images/other_1.png", "test/labels/other_1.txt",
                                   "train/images/a b%.png", "train/images/caf\xC3\xA9.png",
                                   "train/labels/a b%.txt", "train/labels/caf\xC3\xA9.txt",
                                   "val/images/val_images_1.png", "val/labels/val_images_1.txt"));
  EXPECT_EQ(text("train/labels/a b%.txt"),
            "mask 0 0 0 1 2 30 25 0 0 0 0 0 0 0\nno-mask 0 0 0 3.25 4.5 9.1 11 0 0 0 0 0 0 0\n");
  EXPECT_EQ(text("train/labels/caf\xC3\xA9.txt"), "");
  EXPECT_THAT(text("val/labels/val_images_1.txt"), HasSubstr("DontCare 0 0 0 5 5 20 20"));
  EXPECT_EQ(result.label_files, 4);
  EXPECT_THAT(kinds(result),
              ElementsAre(HasSubstr("class names of regions"), HasSubstr("order of the classes")));
}

TEST_F(ExportLabels, YoloLayoutClassOrderAndWhatItCannotCarry) {
  const ExportResult result = convert(ExportFormat::kYolo, ExportOptions::Pictures::kNone);
  EXPECT_THAT(files(),
              ElementsAre("conversion.json", "data.yaml", "labels/test/other_1.txt", "labels/train/a b%.txt",
                          "labels/train/caf\xC3\xA9.txt", "labels/val/val_images_1.txt"));
  EXPECT_THAT(text("data.yaml"), HasSubstr("names:\n  0: \"no-mask\"\n  1: \"mask\"\n"));
  EXPECT_EQ(text("labels/val/val_images_1.txt"), "1 0.5000000000 0.5000000000 1.0000000000 1.0000000000\n");
  ASSERT_EQ(result.losses.size(), 1u);
  EXPECT_THAT(result.losses[0].what, HasSubstr("ignore"));
  EXPECT_EQ(result.losses[0].count, 1);
  EXPECT_EQ(result.losses[0].example, "val/images/1");
  EXPECT_EQ(nlohmann::json::parse(text("conversion.json"))["not_carried"][0]["count"], 1);
}

TEST_F(ExportLabels, CocoKeepsOrderIgnoreAndSplits) {
  const ExportResult result = convert(ExportFormat::kCoco);
  EXPECT_EQ(result.label_files, 3);
  EXPECT_THAT(result.losses, IsEmpty());
  const auto val = nlohmann::json::parse(text("annotations/instances_val.json"));
  EXPECT_EQ(val["images"][0]["file_name"], "val_images_1.png");
  EXPECT_TRUE(fs::exists(folder_ / "out/val/val_images_1.png"));
  std::vector<std::string> names;
  for (const auto& category : val["categories"]) names.push_back(category["name"]);
  EXPECT_THAT(names, ElementsAre("no-mask", "mask", "worn wrong"));
  EXPECT_EQ(val["annotations"][1]["iscrowd"], 1);
  EXPECT_EQ(val["annotations"][1]["category_id"], 3);
}

TEST_F(ExportLabels, CocoWithoutPicturesSaysWhereTheyAre) {
  convert(ExportFormat::kCoco, ExportOptions::Pictures::kNone);
  const auto val = nlohmann::json::parse(text("annotations/instances_val.json"));
  EXPECT_TRUE(fs::exists(fs::path(val["images"][0]["file_name"].get<std::string>())));
}

// Boxes, classes and ignore flags by the picture's name: ids change with the layout.
std::map<std::string, std::vector<LabeledBox>> content(const Dataset& dataset) {
  std::map<std::string, std::vector<LabeledBox>> boxes;
  for (const Sample& sample : dataset.samples)
    boxes[sample.split + "/" + sample.image.filename().string()] = sample.boxes;
  return boxes;
}

TEST_F(ExportLabels, VocReadsBackWhole) {
  dataset_.samples[1].boxes[0].kitti.occlusion = 1;
  dataset_.samples[1].boxes[0].kitti.truncation = 1;
  const ExportResult result = convert(ExportFormat::kVoc, ExportOptions::Pictures::kCopy);
  EXPECT_THAT(kinds(result), ElementsAre(HasSubstr("order of the classes")));
  ImportOptions options;
  options.classes = ClassMap("*");
  options.unlabelled_as_background = false;
  const Dataset back = import_folders({folder_ / "out"}, options).dataset;
  std::map<std::string, std::vector<LabeledBox>> expected = {
      {"test/other_1.png", dataset_.samples[0].boxes},
      {"train/a b%.png", dataset_.samples[1].boxes},
      {"train/caf\xC3\xA9.png", {}},
      {"val/val_images_1.png", dataset_.samples[3].boxes}};
  EXPECT_EQ(content(back), expected);
}

TEST_F(ExportLabels, KittiReadsBackWholeButForIgnoredNames) {
  dataset_.samples[1].boxes[0].kitti = {0.5f, 2, -1.57f, 1, 2, 3, 4, 5, 6, 7};
  convert(ExportFormat::kKitti);
  ImportOptions options;
  options.classes = ClassMap("*");
  const Dataset back = import_folders({folder_ / "out"}, options).dataset;
  auto boxes = content(back);
  EXPECT_EQ(boxes["train/a b%.png"], dataset_.samples[1].boxes);
  ASSERT_EQ(boxes["val/val_images_1.png"].size(), 2u);
  EXPECT_TRUE(boxes["val/val_images_1.png"][1].ignore);
}

TEST_F(ExportLabels, LostExtrasAreCountedByKind) {
  dataset_.samples[1].boxes[0].kitti = {0.5f, 2, -1.57f, 0, 0, 0, 0, 0, 0, 0};
  dataset_.samples[1].group = "sequence 1";
  const ExportResult result = convert(ExportFormat::kVoc);
  EXPECT_THAT(kinds(result), ElementsAre("angles and 3D boxes", "degrees of occlusion",
                                         "degrees of truncation", HasSubstr("groups"), HasSubstr("order")));
}

TEST_F(ExportLabels, MissingPicturesAreToldBeforeAnythingIsWritten) {
  fs::remove(dataset_.samples[2].image);
  try {
    convert(ExportFormat::kVoc);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 4 pictures"));
    EXPECT_EQ(error.where(), dataset_.samples[2].image.string());
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_NO_THROW(convert(ExportFormat::kVoc, ExportOptions::Pictures::kNone));
}

TEST_F(ExportLabels, InterruptedOrRefusedConversionLeavesNothing) {
  std::atomic<bool> stop{false};
  ExportOptions options;
  options.folder = folder_ / "out";
  options.stop = base::StopToken(&stop);
  options.progress = [&](std::int64_t, std::int64_t) { stop = true; };
  EXPECT_THROW(export_labels(dataset_, options), base::Error);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  options.folder = dataset_.root / "out";
  EXPECT_THROW(export_labels(dataset_, options), base::Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2);
}

TEST_F(ExportLabels, ClassesThatKittiWouldMergeAreRefused) {
  dataset_.class_names = {"a b", "a_b", "mask", "no-mask"};
  EXPECT_THROW(convert(ExportFormat::kKitti), base::Error);
  EXPECT_NO_THROW(convert(ExportFormat::kYolo));
  dataset_.class_names = {"mask", "no-mask", "dontcare"};
  EXPECT_THROW(convert(ExportFormat::kKitti), base::Error);
}

TEST(ExportFormatName, UnknownOneIsAUsageError) {
  EXPECT_EQ(export_format_from_name("coco"), ExportFormat::kCoco);
  EXPECT_THROW(export_format_from_name("darknet"), base::Error);
}

}  // namespace
}  // namespace maskfit::dataset
