// The data commands from their words to what they print and write.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "cli/app.h"
#include "dataset/dataset.h"
#include "image/image.h"
#include "tests/support/temp_dir.h"

namespace maskfit::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

class DataCommands : public testing::Test {
 protected:
  DataCommands() {
    for (int i = 0; i < 10; ++i) {
      const std::string picture = image::encode_png({40, 30, 3, std::vector<std::uint8_t>(3600, 9)});
      base::write_file(folder_ / fmt::format("in/images/{}.png", i), picture);
      base::write_file(
          folder_ / fmt::format("in/labels/{}.txt", i),
          i % 2 == 0 ? "With_Mask 0 0 0 1 2 30 25 0 0 0 0 0 0 0\n" : "bare 0 0 0 1 2 30 25 0 0 0 0 0 0 0\n");
    }
  }

  Outcome data(std::vector<std::string> words) {
    words.insert(words.begin(), "data");
    std::ostringstream out, err;
    testing::internal::CaptureStdout();
    const int code = run(words, command_table(), out, err);
    return {code, testing::internal::GetCapturedStdout() + out.str(), err.str()};
  }

  std::string path(const std::string& name) { return (folder_ / name).string(); }

  Outcome import(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"import",    path("in"),  "--to",
                                      path("set"), "--classes", "with_mask=mask,bare=no-mask"};
    words.insert(words.end(), more.begin(), more.end());
    return data(words);
  }

  support::TempDir folder_;
};

TEST_F(DataCommands, ImportAccountsForEveryFileAndSplits) {
  base::write_file(folder_ / "in/readme.md", "hello");
  const Outcome outcome = import({"--val-percent", "30"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("21 files: 20 used, 0 repaired, 1 refused"));
  EXPECT_THAT(outcome.out, HasSubstr("With_Mask -> mask: 5 boxes"));
  const auto counts = dataset::count_by_split(dataset::read_dataset(folder_ / "set"));
  EXPECT_EQ(counts.at("val").samples, 3);
  EXPECT_EQ(counts.at("train").samples, 7);
  EXPECT_EQ(dataset::read_findings(folder_ / "set").size(), 1u);
}

TEST_F(DataCommands, ImportWithoutAMapExitsWith3AndTellsTheOption) {
  const Outcome outcome = data({"import", path("in"), "--to", path("set")});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("--classes With_Mask=mask,bare"));
  EXPECT_FALSE(dataset::is_dataset(folder_ / "set"));
  // What it has seen is kept and in nobody's way.
  EXPECT_EQ(import().code, 0);
}

TEST_F(DataCommands, ImportDoesNotWriteOverAnything) {
  EXPECT_EQ(import().code, 0);
  const Outcome again = import();
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(import({"--force"}).code, 0);
}

TEST_F(DataCommands, ImportCopiesWhenAsked) {
  EXPECT_EQ(import({"--mode", "copy", "--split", "test"}).code, 0);
  const auto dataset = dataset::read_dataset(folder_ / "set");
  EXPECT_EQ(dataset.samples[0].image, "images/images/0.png");
  EXPECT_TRUE(std::filesystem::exists(dataset.image_path(dataset.samples[0])));
  EXPECT_EQ(dataset.split("test").size(), 10u);
}

TEST_F(DataCommands, WrongValueIsAUsageError) {
  EXPECT_EQ(import({"--from", "xlsx"}).code, 2);
  EXPECT_EQ(import({"--rules", "strict"}).code, 2);
  EXPECT_EQ(import({"--max-blur", "3"}).code, 2);
  EXPECT_EQ(import({"--val-percent", "120"}).code, 2);
}

TEST_F(DataCommands, InfoPrintsTextAndJson) {
  EXPECT_EQ(import().code, 0);
  EXPECT_THAT(data({"info", path("set")}).out, HasSubstr("classes   mask, no-mask"));
  const auto json = nlohmann::json::parse(data({"info", path("set"), "--json"}).out);
  EXPECT_EQ(json["splits"]["train"]["samples"], 8);
  EXPECT_EQ(json["digest"], dataset::digest(dataset::read_dataset(folder_ / "set")));
}

TEST_F(DataCommands, ConvertedRecordsHoldTheSameDataset) {
  EXPECT_EQ(import().code, 0);
  const Outcome converted = data({"convert", path("set"), "-o", path("records/masks"), "--shards", "2"});
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_THAT(converted.out, HasSubstr("fold 1: 8 frames in 2 files"));
  EXPECT_THAT(converted.out, HasSubstr("tfrecords_path: \"" + path("records/masks") + "-*\""));
  const auto digest_of = [&](const std::string& data_path) {
    return nlohmann::json::parse(data({"info", data_path, "--json"}).out)["digest"];
  };
  EXPECT_EQ(digest_of(path("records/masks-*") + "@" + path("in")), digest_of(path("set")));
  EXPECT_EQ(data({"import", path("records/masks-*"), "--from", "tfrecord", "--images", path("in"), "--to",
                  path("back")})
                .code,
            0);
  EXPECT_EQ(digest_of(path("back")), digest_of(path("set")));
}

TEST_F(DataCommands, ConvertedLabelsReadBackAndAreNotOverwritten) {
  EXPECT_EQ(import().code, 0);
  for (const std::string format : {"voc", "kitti"}) {
    const std::vector<std::string> words = {"convert", path("set"), "--to",
                                            format,    "-o",        path("out-" + format)};
    const Outcome converted = data(words);
    EXPECT_EQ(converted.code, 0) << converted.err;
    EXPECT_THAT(converted.out, HasSubstr("10 label files\neverything in the dataset has a place"));
    EXPECT_EQ(data(words).code, 1);
    EXPECT_EQ(data({"import", path("out-" + format), "--to", path("back-" + format)}).code, 0);
    const auto back = dataset::count_by_split(dataset::read_dataset(folder_ / ("back-" + format)));
    const auto set = dataset::count_by_split(dataset::read_dataset(folder_ / "set"));
    ASSERT_EQ(back.size(), set.size());
    for (const auto& [split, counts] : set) {
      EXPECT_EQ(back.at(split).samples, counts.samples) << format;
      EXPECT_EQ(back.at(split).boxes, counts.boxes) << format;
    }
  }
}

TEST_F(DataCommands, ConvertRefusesToWriteIntoItsSource) {
  const Outcome outcome = data({"convert", path("in"), "--to", "yolo", "-o", path("in/yolo")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("lie in each other"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "in/yolo"));
  EXPECT_EQ(data({"convert", path("in"), "--to", "darknet", "-o", path("x")}).code, 2);
}

TEST_F(DataCommands, ConvertNeedsTheOptionThatGivesAnotherItsMeaning) {
  EXPECT_EQ(data({"convert", path("in"), "-o", path("r"), "--val-percent", "10"}).code, 2);
  EXPECT_EQ(data({"convert", path("in"), "-o", path("r"), "--compat-split", "--val-percent", "10"}).code, 0);
}

}  // namespace
}  // namespace maskfit::cli
