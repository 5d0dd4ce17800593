// Labels, folds, shards and splits against the test vectors.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/files.h"
#include "dataset/folds.h"
#include "dataset/frame_example.h"
#include "dataset/python_random.h"
#include "dataset/tfrecords.h"
#include "formats/kitti.h"
#include "formats/tfrecord.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"
#include "tests/support/vectors.h"

namespace maskfit::dataset {
namespace {

using nlohmann::json;

// The features of a record under the names that the vectors use.
constexpr std::pair<const char*, const char*> kFloatFeatures[] = {
    {"trunc", "target/truncation"},   {"alpha", "target/observation_angle"}, {"x1", "target/coordinates_x1"},
    {"y1", "target/coordinates_y1"},  {"x2", "target/coordinates_x2"},       {"y2", "target/coordinates_y2"},
    {"h", "target/world_bbox_h"},     {"w", "target/world_bbox_w"},          {"l", "target/world_bbox_l"},
    {"X", "target/world_bbox_x"},     {"Y", "target/world_bbox_y"},          {"Z", "target/world_bbox_z"},
    {"ry", "target/world_bbox_rot_y"}};

Sample sample_of(const std::vector<formats::KittiLabel>& labels) {
  Sample sample;
  sample.width = 1242;
  sample.height = 375;
  for (const formats::KittiLabel& l : labels) {
    sample.boxes.push_back({l.box_in_image,
                            l.class_name,
                            false,
                            {l.truncation, l.occlusion, l.observation_angle, l.world_height, l.world_width,
                             l.world_length, l.world_x, l.world_y, l.world_z, l.world_rotation_y}});
  }
  return sample;
}

TEST(DatasetVectors, KittiLabel) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("kitti_label")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    std::string text;
    for (const auto& line : vector["input"]["lines"]) text += line.get<std::string>() + "\n";
    base::Findings findings;
    const auto labels =
        formats::parse_kitti(text, "labels/a.txt", &findings, formats::KittiFields::kExactly15);
    const json& expected = vector["expected"];
    if (expected.contains("error")) {
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].line, expected["row"].get<int>() + 1);
      EXPECT_NE(findings[0].what.find(fmt::format("{} fields", expected["n_fields"].get<int>())),
                std::string::npos);
      continue;
    }
    EXPECT_TRUE(findings.empty());
    std::vector<std::size_t> dropped;
    const formats::Example example = frame_example(sample_of(labels), "images/a", &dropped);
    EXPECT_EQ(std::get<formats::BytesList>(example.at("target/object_class")),
              expected["objects"]["class"].get<formats::BytesList>());
    EXPECT_EQ(std::get<formats::Int64List>(example.at("target/occlusion")),
              expected["objects"]["occ"].get<formats::Int64List>());
    for (const auto& [name, feature] : kFloatFeatures) {
      EXPECT_EQ(std::get<formats::FloatList>(example.at(feature)),
                expected["objects"][name].get<formats::FloatList>())
          << name;
    }
    ASSERT_EQ(dropped.size(), expected["skipped"].size());
    for (std::size_t i = 0; i < dropped.size(); ++i) EXPECT_EQ(dropped[i], expected["skipped"][i]["row"]);
  }
}

TEST(DatasetVectors, Mt19937Shuffle) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("mt19937_shuffle")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    PythonRandom random(vector["input"]["seed"].get<std::uint32_t>());
    for (const char* which : {"first", "second"}) {
      std::vector<int> items(vector["input"]["n"].get<std::size_t>());
      std::iota(items.begin(), items.end(), 0);
      random.shuffle(items);
      EXPECT_EQ(items, vector["expected"][which].get<std::vector<int>>()) << which;
    }
  }
}

TEST(DatasetVectors, FoldRandom) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("fold_random")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    std::vector<std::string> names;
    for (int i = 0; i < vector["input"]["n_images"].get<int>(); ++i)
      names.push_back(fmt::format("img_{:03}", i));
    const auto folds = reference_random_folds(names, vector["input"]["val_split"].get<float>());
    ASSERT_EQ(folds.size(), 2u);
    EXPECT_EQ(folds[0].size(), vector["expected"]["num_val"].get<std::size_t>());
    EXPECT_EQ(folds[0], vector["expected"]["fold0"].get<Fold>());
    EXPECT_EQ(folds[1], vector["expected"]["fold1"].get<Fold>());
  }
}

// The vectors give whole sequences by name and length, or the frames of a map.
TEST(DatasetVectors, FoldSequence) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("fold_sequence")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector["input"];
    const json& expected = vector["expected"];
    std::vector<std::pair<std::string, Fold>> sequences;
    if (input.contains("map")) {
      for (const auto& [name, frames] : input["map"].items())
        sequences.emplace_back(name, frames.get<Fold>());
      EXPECT_EQ(sequence_folds(sequences, input["num_partitions"]),
                expected["folds_before_shuffle"].get<std::vector<Fold>>());
      continue;
    }
    std::map<std::string, Fold> frames_of;
    for (const auto& entry : input["sequence_lengths_in_file_order"]) {
      Fold frames;
      for (int i = 0; i < entry[1].get<int>(); ++i)
        frames.push_back(fmt::format("{}:{}", entry[0].get<std::string>(), i));
      frames_of[entry[0]] = frames;
      sequences.emplace_back(entry[0], frames);
    }
    const auto folds = sequence_folds(sequences, input["num_partitions"]);
    ASSERT_EQ(folds.size(), expected["frames_per_fold"].size());
    for (std::size_t i = 0; i < folds.size(); ++i) {
      Fold wanted;
      for (const auto& name : expected["fold_sequences_before_shuffle"][i]) {
        const Fold& frames = frames_of.at(name.get<std::string>());
        wanted.insert(wanted.end(), frames.begin(), frames.end());
      }
      EXPECT_EQ(folds[i], wanted);
      EXPECT_EQ(folds[i].size(), expected["frames_per_fold"][i].get<std::size_t>());
    }
  }
}

TEST(DatasetVectors, Sharding) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("sharding")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    EXPECT_EQ(shard_sizes(vector["input"]["n"], vector["input"]["num_shards"]),
              vector["expected"]["shard_sizes"].get<std::vector<std::int64_t>>());
  }
}

TEST(DatasetVectors, ShardName) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("shard_name")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector["input"];
    EXPECT_EQ(shard_name(input["prefix"], input["partition"], input["num_partitions"], input["shard"],
                         input["num_shards"]),
              vector["expected"]["file"]);
  }
}

TEST(DatasetVectors, DatasetSplit) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : support::vector_group("dataset_split")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    support::TempDir folder;
    int frames = 0;
    for (const auto& [fold, records] : vector["input"]["records_per_fold"].items()) {
      std::string bytes;
      for (int i = 0; i < records.get<int>(); ++i) {
        Sample sample;
        sample.width = sample.height = 8;
        const std::string id = fmt::format("{}", frames++);
        image::write_image(folder / (id + ".png"), {8, 8, 3, std::vector<std::uint8_t>(192, 0)});
        formats::append_record(bytes, formats::encode_example(frame_example(sample, id, nullptr)));
      }
      base::write_file(folder / ("records-" + fold), bytes);
    }
    const json& cases = vector["input"]["cases"];
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto fold = cases[i].is_null() ? std::nullopt : std::optional<int>(cases[i].get<int>());
      const Dataset dataset = read_tfrecords({(folder / "records-*").string(), folder.path(), "png"}, fold);
      const json& counts = vector["expected"]["train_val_counts"][i];
      EXPECT_EQ(dataset.split("train").size(), counts[0].get<std::size_t>()) << "case " << i;
      EXPECT_EQ(dataset.split("val").size(), counts[1].get<std::size_t>()) << "case " << i;
    }
  }
}

}  // namespace
}  // namespace maskfit::dataset
