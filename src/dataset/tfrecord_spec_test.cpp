// dataset_convert specs from KITTI folders and COCO files to records.

#include "dataset/tfrecord_spec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "dataset/frame_example.h"
#include "formats/tfrecord.h"
#include "image/image.h"
#include "spec/load.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class TfrecordSpec : public testing::Test {
 protected:
  void picture(const std::string& name) {
    image::write_image(folder_ / name, {32, 24, 3, std::vector<std::uint8_t>(32 * 24 * 3, 7)});
  }

  void write_kitti() {
    for (int i = 0; i < 10; ++i) {
      picture(fmt::format("kitti/images/{}.JPG", i));
      base::write_file(folder_ / fmt::format("kitti/labels/{}.txt", i),
                       i % 2 == 0
                           ? "Mask 0 0 0 1 2 30 20 0 0 0 0 0 0 0\n"
                           : "No-Mask 0 0 0 1 2 40 20 0 0 0 0 0 0 0\nMask 0 0 0 5 5 5.5 9 0 0 0 0 0 0 0\n");
    }
  }

  TfrecordSpecResult convert(const std::string& text, TfrecordSpecOptions options = {}) {
    const auto loaded = spec::read_dataset_export(text, "spec.txt");
    EXPECT_TRUE(loaded.findings.empty());
    options.prefix = (folder_ / "out/records").string();
    options.base = folder_.path();
    options.overwrite = base::Overwrite::kAllow;
    return export_tfrecords(loaded.spec, options);
  }

  static std::string kitti(const std::string& more) {
    return "kitti_config { root_directory_path: \"kitti\" image_dir_name: \"images\" label_dir_name: "
           "\"labels\" "
           "image_extension: \"jpg\" " +
           more + " }\n";
  }

  static std::vector<std::string> ids(const TfrecordExport::WrittenFold& fold) {
    std::vector<std::string> list;
    for (const fs::path& file : fold.files) {
      for (const std::string& record : formats::read_records(file))
        list.push_back(frame_of(formats::decode_example(record, "r"), "r").id);
    }
    return list;
  }

  support::TempDir folder_;
};

TEST_F(TfrecordSpec, RandomIsDrawnAndCutWhereTheReferenceCuts) {
  write_kitti();
  const auto result =
      convert(kitti("partition_mode: \"random\" num_partitions: 2 val_split: 20 num_shards: 2"));
  ASSERT_EQ(result.written.folds.size(), 2u);
  EXPECT_EQ(result.written.folds[0].frames, 2);
  EXPECT_EQ(result.written.folds[1].frames, 8);
  EXPECT_EQ(result.written.dropped_objects, 5);
  std::map<std::string, std::int64_t> objects;
  for (const auto& fold : result.written.folds) {
    for (const auto& [name, n] : fold.objects) objects[name] += n;
  }
  EXPECT_EQ(objects, (std::map<std::string, std::int64_t>{{"mask", 5}, {"no-mask", 5}}));
  EXPECT_THAT(result.written.findings.at(0).what, HasSubstr("5 boxes reach over"));
  EXPECT_TRUE(fs::exists(folder_ / "out/records-fold-001-of-002-shard-00001-of-00002"));
}

TEST_F(TfrecordSpec, ReferenceOrderTakesTheFirstNamesAndTheReferencesShuffle) {
  write_kitti();
  TfrecordSpecOptions options;
  options.reference_order = true;
  const auto result = convert(kitti("partition_mode: \"random\" num_partitions: 2 val_split: 20"), options);
  EXPECT_THAT(ids(result.written.folds.at(0)), UnorderedElementsAre("images/0", "images/1"));
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back(fmt::format("images/{}", i));
  EXPECT_EQ(ids(result.written.folds[1]), reference_random_folds(names, 20)[1]);
}

TEST_F(TfrecordSpec, HundredPercentIsFoldZeroAlone) {
  write_kitti();
  const auto result = convert(kitti("partition_mode: \"random\" num_partitions: 2 val_split: 100"));
  ASSERT_EQ(result.written.folds.size(), 1u);
  EXPECT_EQ(result.written.folds[0].index, 0);
  EXPECT_EQ(result.written.folds[0].frames, 10);
}

TEST_F(TfrecordSpec, SequencesStayTogether) {
  write_kitti();
  base::write_file(folder_ / "kitti/sequences.json",
                   R"({"a": ["0", "1", "2"], "b": ["3", "4"], "c": ["5", "6"]})");
  const auto result = convert(kitti(
      "partition_mode: \"sequence\" num_partitions: 2 kitti_sequence_to_frames_file: \"sequences.json\""));
  ASSERT_EQ(result.written.folds.size(), 2u);
  EXPECT_THAT(ids(result.written.folds[0]), UnorderedElementsAre("images/3", "images/4"));
  EXPECT_EQ(result.written.left_out, 3);
}

TEST_F(TfrecordSpec, ModifierFiltersAndDuplicatesTheTrainingFoldOnly) {
  write_kitti();
  const std::string modifier =
      "sample_modifier_config { filter_samples_containing_only: \"mask\" dominant_target_classes: \"mask\" "
      "num_duplicates: 1 source_to_target_class_mapping { key: \"mask\" value: \"mask\" } "
      "source_to_target_class_mapping { key: \"no-mask\" value: \"bare\" } }";
  const std::string text = kitti("partition_mode: \"random\" num_partitions: 2 val_split: 20") + modifier;
  const auto result = convert(text);
  const auto &val = result.written.folds.at(0), &train = result.written.folds.at(1);
  EXPECT_EQ(val.frames, 2);
  EXPECT_EQ(train.frames, 2 * train.copies);
  EXPECT_EQ(train.filtered + train.copies, 8);
  const auto written = ids(train);
  for (std::size_t i = 0; i + 1 < written.size(); i += 2) EXPECT_EQ(written[i], written[i + 1]);
  TfrecordSpecOptions options;
  options.reference_order = true;
  options.validation_fold = 1;
  const auto other = convert(text, options);
  EXPECT_EQ(other.written.folds.at(1).frames, 8);
}

TEST_F(TfrecordSpec, BadLabelsAreNamedOrSkipped) {
  write_kitti();
  base::write_file(folder_ / "kitti/labels/3.txt", "mask 0 0 0 1 2 30 20 0 0 0 0 0 0\n");
  fs::remove(folder_ / "kitti/labels/5.txt");
  const std::string text = kitti("partition_mode: \"random\" num_partitions: 2 val_split: 0");
  try {
    convert(text);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("2 faults"));
    EXPECT_THAT(error.what(), HasSubstr("3.txt:1"));
  }
  TfrecordSpecOptions options;
  options.skip_bad_labels = true;
  const auto result = convert(text, options);
  ASSERT_EQ(result.written.folds.size(), 1u);
  EXPECT_EQ(result.written.folds[0].index, 1);  // the numbers stay
  EXPECT_EQ(result.written.folds[0].frames, 9);
}

TEST_F(TfrecordSpec, CocoKeepsTheFilesOrderAndFolds) {
  const char* text = R"({"images": [{"id": 9, "file_name": "b.png", "width": 32, "height": 24},
                                    {"id": 2, "file_name": "a.png", "width": 32, "height": 24}],
                         "categories": [{"id": 90, "name": "No Mask"}],
                         "annotations": [{"id": 1, "image_id": 2, "category_id": 90, "bbox": [1, 2, 3, 4]},
                                         {"id": 2, "image_id": 2, "category_id": 90, "bbox": [1, 2, 0.5, 4]},
                                         {"id": 3, "image_id": 9, "category_id": 90, "bbox": [1, 2, 9, 9],
                                          "iscrowd": 1}]})";
  base::write_file(folder_ / "coco/val.json", text);
  base::write_file(folder_ / "coco/train.json", text);
  const auto result = convert(
      "coco_config { root_directory_path: \"coco\" img_dir_names: \"v\" img_dir_names: \"t\" "
      "annotation_files: \"val.json\" annotation_files: \"train.json\" num_partitions: 2 num_shards: 1 }");
  ASSERT_EQ(result.written.folds.size(), 2u);
  EXPECT_THAT(ids(result.written.folds[0]), ElementsAre("v/b", "v/a"));
  EXPECT_THAT(ids(result.written.folds[1]), ElementsAre("t/b", "t/a"));
  EXPECT_EQ(result.written.folds[0].objects.at("nomask"), 1);
  EXPECT_EQ(result.written.folds[0].objects.at("dontcare"), 1);
  EXPECT_EQ(result.written.dropped_objects, 2);
}

TEST_F(TfrecordSpec, OddSpecsAreRefused) {
  write_kitti();
  EXPECT_THROW(convert(kitti("partition_mode: \"random\" num_partitions: 3")), base::Error);
  EXPECT_THROW(convert(kitti("partition_mode: \"odd\" num_partitions: 2")), base::Error);
  EXPECT_THROW(convert("kitti_config { root_directory_path: \"none\" partition_mode: \"random\" }"),
               base::Error);
  EXPECT_THROW(convert("coco_config { root_directory_path: \"kitti\" num_partitions: 2 }"), base::Error);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

}  // namespace
}  // namespace maskfit::dataset
