#include "dataset/tfrecords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "dataset/frame_example.h"
#include "formats/tfrecord.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"

namespace maskfit::dataset {
namespace {
namespace fs = std::filesystem;

using boxes::Box;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Without the sync to disk of base::write_file, which a hundred small test files need not wait for.
void write_plainly(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

class TfrecordsTest : public testing::Test {
 protected:
  // n pictures of 40 x 30 with one mask each; every fifth validates.
  Dataset pictures(int n, const std::string& folder = "train/images", const std::string& ending = ".png") {
    Dataset dataset;
    dataset.root = folder_.path();
    const image::Image plain{40, 30, 3, std::vector<std::uint8_t>(3600, 9)};
    const std::string picture = ending == ".jpg" ? image::encode_jpeg(plain) : image::encode_png(plain);
    for (int i = 0; i < n; ++i) {
      Sample sample;
      sample.id = fmt::format("{}/{:03}", folder, i);
      sample.image = sample.id + ending;
      sample.width = 40;
      sample.height = 30;
      sample.split = i % 5 == 0 ? "val" : "train";
      sample.boxes = {{{1.5f, 2, 20.25f, 25}, "mask", false, {}}};
      write_plainly(folder_ / sample.image, picture);
      dataset.samples.push_back(std::move(sample));
    }
    normalise(dataset);
    return dataset;
  }

  TfrecordExportOptions options(int shards = 2) {
    TfrecordExportOptions options;
    options.prefix = (folder_ / "records/kitti").string();
    options.num_shards = shards;
    return options;
  }

  TfrecordSource source(const TfrecordExport& exported) {
    return {(folder_ / "records/kitti*").string(), exported.image_directory, exported.image_extension};
  }

  std::vector<std::string> record_files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "records"))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<std::string> ids_of(const fs::path& file) {
    std::vector<std::string> ids;
    for (const std::string& record : formats::read_records(file)) {
      ids.push_back(std::get<formats::BytesList>(formats::decode_example(record, "").at("frame/id"))[0]);
    }
    return ids;
  }

  support::TempDir folder_;
};

TEST_F(TfrecordsTest, SplitsBecomeFoldsUnderTheReferencesNames) {
  const TfrecordExport exported = export_tfrecords(pictures(20), options());
  EXPECT_THAT(record_files(), ElementsAre("kitti-fold-000-of-002-shard-00000-of-00002",
                                          "kitti-fold-000-of-002-shard-00001-of-00002",
                                          "kitti-fold-001-of-002-shard-00000-of-00002",
                                          "kitti-fold-001-of-002-shard-00001-of-00002"));
  ASSERT_EQ(exported.folds.size(), 2u);
  EXPECT_EQ(exported.folds[0].frames, 4);
  EXPECT_EQ(exported.folds[1].frames, 16);
  EXPECT_EQ(exported.folds[1].objects, (std::map<std::string, std::int64_t>{{"mask", 16}}));
  EXPECT_EQ(exported.image_extension, "png");
  EXPECT_EQ(exported.image_directory, folder_ / "train");
  EXPECT_THAT(ids_of(exported.folds[0].files[0])[0], testing::StartsWith("images/"));
}

TEST_F(TfrecordsTest, WhatIsWrittenReadsBackTheSame) {
  Dataset dataset = pictures(10);
  dataset.samples[3].boxes = {{{1, 2, 30, 28}, "no-mask", false, {0.5f, -1, -10, 1, 2, 3, 4, 5, 6, 7}},
                              {{3, 4, 9.5f, 12}, "worn wrongly", true, {}}};
  dataset.samples[4].boxes.clear();
  const TfrecordExport exported = export_tfrecords(dataset, options());
  base::Findings findings;
  const Dataset back = read_tfrecords(source(exported), 0, &findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(back.samples.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ("train/" + back.samples[i].id, dataset.samples[i].id);
    EXPECT_EQ(back.samples[i].split, dataset.samples[i].split);
    EXPECT_EQ(back.samples[i].width, 40);
    EXPECT_EQ(back.samples[i].image, dataset.root / dataset.samples[i].image);
    if (i != 3) EXPECT_EQ(back.samples[i].boxes, dataset.samples[i].boxes) << i;
  }
  EXPECT_EQ(back.samples[3].boxes[0], dataset.samples[3].boxes[0]);
  EXPECT_EQ(back.samples[3].boxes[1], (LabeledBox{{3, 4, 9.5f, 12}, "dontcare", true, {}}));
}

TEST_F(TfrecordsTest, EmptyFoldKeepsItsNumber) {
  Dataset dataset = pictures(4);
  for (Sample& sample : dataset.samples) sample.split = "train";
  export_tfrecords(dataset, options(1));
  EXPECT_THAT(record_files(), ElementsAre("kitti-fold-001-of-002-shard-00000-of-00001"));
}

TEST_F(TfrecordsTest, NoShardIsEmpty) {
  const TfrecordExport exported = export_tfrecords(pictures(4), options(10));
  for (const auto& fold : exported.folds) {
    for (const auto& file : fold.files) EXPECT_GT(fs::file_size(file), 0u) << file;
  }
  EXPECT_EQ(exported.folds[1].files.size(), 3u);
  EXPECT_THAT(exported.findings[0].what, HasSubstr("fold 0 has 1 frames for 10 shards"));
}

TEST_F(TfrecordsTest, ZeroShardsMeanOneFileWithoutAShardInItsName) {
  export_tfrecords(pictures(5), options(0));
  EXPECT_THAT(record_files(), ElementsAre("kitti-fold-000-of-002", "kitti-fold-001-of-002"));
}

TEST_F(TfrecordsTest, ReferenceOrderTakesTheFirstNamesForValidation) {
  TfrecordExportOptions reference = options(1);
  reference.folds = TfrecordExportOptions::Folds::kReferenceRandom;
  reference.val_percent = 40;
  const TfrecordExport exported = export_tfrecords(pictures(10), reference);
  EXPECT_THAT(ids_of(exported.folds[0].files[0]),
              testing::UnorderedElementsAre("images/000", "images/001", "images/002", "images/003"));
}

TEST_F(TfrecordsTest, SequencesStayTogether) {
  base::write_file(folder_ / "sequences.json", R"({"b": ["003", "004"], "a": ["000", "001", "002"]})");
  TfrecordExportOptions by_sequence = options(1);
  by_sequence.folds = TfrecordExportOptions::Folds::kSequences;
  by_sequence.sequences_file = folder_ / "sequences.json";
  const TfrecordExport exported = export_tfrecords(pictures(6), by_sequence);
  EXPECT_THAT(ids_of(exported.folds[0].files[0]), testing::UnorderedElementsAre("images/003", "images/004"));
  EXPECT_THAT(ids_of(exported.folds[1].files[0]),
              testing::UnorderedElementsAre("images/000", "images/001", "images/002"));
  EXPECT_EQ(exported.left_out, 1);
  base::write_file(folder_ / "sequences.json", R"({"a": ["000", "nobody"]})");
  by_sequence.overwrite = base::Overwrite::kAllow;
  EXPECT_THAT([&] { export_tfrecords(pictures(6), by_sequence); },
              ThrowsMessage<base::Error>(HasSubstr("frame 'nobody' of sequence 'a' is not in the data")));
}

TEST_F(TfrecordsTest, SubPixelBoxesAreDroppedAndListed) {
  Dataset dataset = pictures(2);
  dataset.samples[1].boxes.push_back({{10.2f, 5, 10.9f, 14}, "mask", false, {}});
  const TfrecordExport exported = export_tfrecords(dataset, options(1));
  EXPECT_EQ(exported.dropped_objects, 1);
  EXPECT_EQ(nlohmann::json::parse(base::read_file(folder_ / "records/kitti_warning.json")),
            nlohmann::json::parse(R"({"images/001_1": [10, 5, 10, 14]})"));
  // Which a glob over the prefix must not take for records.
  EXPECT_EQ(read_tfrecords(source(exported), 0).samples.size(), 2u);
}

TEST_F(TfrecordsTest, FilesOfAnEarlierConversionAreNotLeftBesideTheNew) {
  export_tfrecords(pictures(20), options(4));
  EXPECT_THAT([&] { export_tfrecords(pictures(20), options(2)); },
              ThrowsMessage<base::Error>(HasSubstr("8 files of an earlier conversion")));
  EXPECT_EQ(record_files().size(), 8u);
  TfrecordExportOptions again = options(2);
  again.overwrite = base::Overwrite::kAllow;
  export_tfrecords(pictures(20), again);
  EXPECT_EQ(record_files().size(), 4u);
}

TEST_F(TfrecordsTest, ClassesThatDifferInCaseAreMergedAndSaidSo) {
  Dataset dataset = pictures(2);
  dataset.samples[0].boxes[0].class_name = "Mask";
  const auto findings = export_tfrecords(dataset, options(1)).findings;
  EXPECT_THAT(findings.back().what, HasSubstr("Mask, mask become one class, 'mask'"));
}

TEST_F(TfrecordsTest, PicturesOfSeveralFoldersAndEndings) {
  Dataset dataset = pictures(3, "a/images");
  const Dataset more = pictures(2, "b/images", ".jpg");
  dataset.samples.insert(dataset.samples.end(), more.samples.begin(), more.samples.end());
  const TfrecordExport exported = export_tfrecords(dataset, options(1));
  EXPECT_EQ(exported.image_directory, folder_.path());
  EXPECT_THAT(exported.findings.front().what, HasSubstr("2 of 5 pictures do not end in .png"));
  EXPECT_EQ(read_tfrecords(source(exported), 0).samples.size(), 5u);
}

TEST_F(TfrecordsTest, OrderIsDrawnOnceFromTheSeed) {
  Dataset dataset = pictures(40);
  const auto order = [&](std::uint64_t seed) {
    TfrecordExportOptions seeded = options(1);
    seeded.seed = seed;
    seeded.overwrite = base::Overwrite::kAllow;
    return ids_of(export_tfrecords(dataset, seeded).folds[1].files[0]);
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST_F(TfrecordsTest, NothingToWriteIsAnError) {
  Dataset dataset = pictures(2);
  for (Sample& sample : dataset.samples) sample.split = "test";
  EXPECT_THAT([&] { export_tfrecords(dataset, options()); },
              ThrowsMessage<base::Error>(HasSubstr("nothing to write")));
  EXPECT_THROW(export_tfrecords(Dataset(), options()), base::Error);
}

TEST_F(TfrecordsTest, MissingPicturesAndWrongRecordsAreFindingsWithTheRecordsNumber) {
  const TfrecordExport exported = export_tfrecords(pictures(3), options(1));
  const fs::path file = folder_ / "records/kitti-fold-001-of-002-shard-00000-of-00001";
  const auto ids = ids_of(file);
  fs::remove(folder_ / "train" / (ids[1] + ".png"));
  std::string bytes = base::read_file(file);
  formats::append_record(bytes, formats::encode_example({{"frame/height", formats::Int64List{3}}}));
  base::write_file(file, bytes);
  base::Findings findings;
  EXPECT_EQ(read_tfrecords(source(exported), 0, &findings).samples.size(), 2u);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].line, 3);
  EXPECT_THAT(findings[0].what, HasSubstr("frame/id is missing"));
  EXPECT_EQ(findings[1].line, 2);
  EXPECT_THAT(findings[1].what, HasSubstr("there is no picture"));
}

TEST_F(TfrecordsTest, FramesThatAreDuplicatedOnPurposeStayTogether) {
  const TfrecordExport exported = export_tfrecords(pictures(2), options(1));
  const fs::path file = exported.folds[1].files[0];
  base::write_file(file, base::read_file(file) + base::read_file(file));
  const Dataset back = read_tfrecords(source(exported), std::nullopt);
  ASSERT_EQ(back.samples.size(), 3u);
  EXPECT_EQ(back.samples[1].id + "~", back.samples[2].id);
  EXPECT_EQ(back.samples[1].group, back.samples[2].group);
}

TEST_F(TfrecordsTest, BoxesOverTheEdgeAreCutUnlessTheReferenceIsAskedFor) {
  Dataset dataset = pictures(1);
  dataset.samples[0].boxes[0].box_in_image.x2 = 50;
  const TfrecordExport exported = export_tfrecords(dataset, options(1));
  EXPECT_EQ(read_tfrecords(source(exported), 0).samples[0].boxes[0].box_in_image.x2, 40);
  EXPECT_EQ(read_tfrecords(source(exported), 0, nullptr, TfrecordBoxes::kAsWritten)
                .samples[0]
                .boxes[0]
                .box_in_image.x2,
            50);
}

TEST_F(TfrecordsTest, ValidationFoldThatNoFileHasIsSaid) {
  const TfrecordExport exported = export_tfrecords(pictures(5), options(1));
  base::Findings findings;
  EXPECT_TRUE(read_tfrecords(source(exported), 7, &findings).split("val").empty());
  EXPECT_THAT(findings.back().what, HasSubstr("no file is of fold 7"));
}

TEST_F(TfrecordsTest, EmptyGlobAndDamagedFileAreErrors) {
  EXPECT_THROW(read_tfrecords({(folder_ / "none-*").string(), folder_.path(), "png"}, 0), base::Error);
  const TfrecordExport exported = export_tfrecords(pictures(5), options(1));
  const fs::path file = exported.folds[1].files[0];
  base::write_file(file, base::read_file(file).substr(0, 40));
  EXPECT_THAT([&] { read_tfrecords(source(exported), 0); },
              ThrowsMessage<base::Error>(HasSubstr("the record at byte 0 is cut off")));
}

TEST_F(TfrecordsTest, RecordsAreFoundByTheirContent) {
  export_tfrecords(pictures(10), options());
  auto folder = find_tfrecords(folder_.path().string());
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->image_directory, folder_.path());
  folder->image_directory = folder_ / "train";  // where the frame ids start
  EXPECT_EQ(read_tfrecords(*folder, 0).samples.size(), 10u);
  const auto inner = find_tfrecords((folder_ / "records").string());
  ASSERT_TRUE(inner);
  EXPECT_EQ(tfrecord_files(*inner).size(), 4u);
  EXPECT_TRUE(find_tfrecords((folder_ / "records").string() + "/kitti*"));
  EXPECT_TRUE(find_tfrecords(tfrecord_files(*inner).front().string()));
  EXPECT_FALSE(find_tfrecords((folder_ / "train").string()));
  EXPECT_FALSE(find_tfrecords((folder_ / "nothing*").string()));
  EXPECT_FALSE(find_tfrecords((folder_ / "train/images/000.png").string()));
  // Beside other labels the records are left to the import of these, which says so.
  write_plainly(folder_ / "train/labels/000.txt", "mask 0 0 0 1 2 3 4 0 0 0 0 0 0 0\n");
  EXPECT_FALSE(find_tfrecords(folder_.path().string()));
}

TEST_F(TfrecordsTest, AFolderWithTheSignsOfAGlobInItsName) {
  TfrecordExportOptions strange = options();
  strange.prefix = (folder_ / "rec [1]*/kitti").string();
  export_tfrecords(pictures(10), strange);
  const auto found = find_tfrecords((folder_ / "rec [1]*").string());
  ASSERT_TRUE(found);
  EXPECT_EQ(tfrecord_files(*found).size(), 4u);
}

TEST_F(TfrecordsTest, OpenDataTakesGlobAndPictureFolder) {
  const TfrecordExport exported = export_tfrecords(pictures(10), options());
  const Dataset dataset = open_data(source(exported).glob + "@" + exported.image_directory.string());
  EXPECT_EQ(dataset.split("val").size(), 2u);
  EXPECT_EQ(dataset.split("train").size(), 8u);
}

TEST(ResolveDataPath, DataBasePathGoesBeforeTheSpecsFolder) {
  ::unsetenv("DATA_BASE_PATH");
  EXPECT_EQ(resolve_data_path("/a/b", "/spec"), "/a/b");
  EXPECT_EQ(resolve_data_path("a/b", "/spec"), "/spec/a/b");
  ::setenv("DATA_BASE_PATH", "/datasets", 1);
  EXPECT_EQ(resolve_data_path("a/b", "/spec"), "/datasets/a/b");
  ::unsetenv("DATA_BASE_PATH");
}

TEST(FrameOf, PolygonsBecomeTheirBounds) {
  const formats::Example example = {{"frame/id", formats::BytesList{"a"}},
                                    {"target/object_class", formats::BytesList{"mask", "no-mask"}},
                                    {"target/coordinates/x", formats::FloatList{1, 9, 5, 20, 30}},
                                    {"target/coordinates/y", formats::FloatList{2, 4, 8, 40, 35}},
                                    {"target/coordinates/index", formats::Int64List{0, 0, 0, 1, 1}}};
  const Frame frame = frame_of(example, "f");
  ASSERT_EQ(frame.boxes.size(), 2u);
  EXPECT_EQ(frame.boxes[0].box_in_image, (Box{1, 2, 9, 8}));
  EXPECT_EQ(frame.boxes[1].box_in_image, (Box{20, 35, 30, 40}));
}

TEST(FrameOfRefuses, ListsThatDisagreeByName) {
  const auto refusal = [](formats::Example example) -> std::string {
    example.emplace("frame/id", formats::BytesList{"a"});
    example.emplace("target/object_class", formats::BytesList{"mask"});
    try {
      frame_of(example, "f, record 3");
    } catch (const base::Error& error) {
      EXPECT_EQ(error.where(), "f, record 3");
      return error.what();
    }
    return "accepted";
  };
  const formats::FloatList one = {1}, two = {1, 2};
  EXPECT_THAT(refusal({{"target/coordinates_x1", two}}),
              HasSubstr("coordinates_x1 has 2 values for 1 objects"));
  EXPECT_THAT(
      refusal(
          {{"target/coordinates_x1", one}, {"target/coordinates_y1", one}, {"target/coordinates_x2", one}}),
      HasSubstr("coordinates_y2 is missing"));
  EXPECT_THAT(refusal({}), HasSubstr("coordinates_x1 is missing"));
  EXPECT_THAT(refusal({{"target/coordinates_x1", formats::Int64List{1}}}), HasSubstr("is of another kind"));
  EXPECT_THAT(refusal({{"frame/id", formats::BytesList{}}}), HasSubstr("frame/id is missing"));
  EXPECT_THAT(refusal({{"frame/width", formats::Int64List{-4}}}), HasSubstr("frame/width is -4"));
}

}  // namespace
}  // namespace maskfit::dataset
