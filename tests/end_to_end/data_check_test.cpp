// The audit and what follows from it, with the binary alone: check, --fix and back, split, contact sheets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "dataset/dataset.h"
#include "image/image.h"
#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using support::maskfit;
using support::Outcome;
using testing::HasSubstr;

// Twelve drawn pictures with three faults that --fix mends: a picture to train on that is also validated on,
// a box of three pixels, and one over the edge.
class DataCheck : public testing::Test {
 protected:
  DataCheck() : set_(folder_ / "a set") {
    support::write_tiny_data(set_);
    dataset::Dataset data = dataset::read_dataset(set_);
    const auto in = [&](const std::string& split) {
      return std::find_if(data.samples.begin(), data.samples.end(),
                          [&](const dataset::Sample& sample) { return sample.split == split; });
    };
    dataset::Sample copy = *in("val");
    copy.id = "zz copy";
    copy.split = "train";
    data.samples.push_back(copy);
    in("train")->boxes.push_back({{10, 10, 13, 13}, "mask", false, {}});
    in("train")->boxes.push_back({{40, 40, 80, 62}, "mask", false, {}});
    dataset::write_dataset(data, {}, "drawn, with faults");
  }

  Outcome check(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"data", "check", set_.string(), "--size", "64x64"});
    return maskfit(more);
  }
  // Examples of a kind of finding, 0 when there is none.
  static std::size_t count(const Outcome& outcome, const std::string& kind) {
    const json all = json::parse(outcome.out);
    for (const json& issue : all.at("issues")) {
      if (issue.at("kind") == kind) return issue.at("count").get<std::size_t>();
    }
    return 0;
  }
  std::string manifest() const {
    return base::read_file(set_ / "samples.jsonl") + base::read_file(set_ / "dataset.json");
  }

  support::TempDir folder_;
  fs::path set_;
};

TEST_F(DataCheck, TellsWhetherTrainingShouldGoAhead) {
  const Outcome text = check();
  EXPECT_EQ(text.status, 3) << text.err;
  EXPECT_THAT(text.out, HasSubstr("The same picture in two splits (leak-same): 1"));
  EXPECT_THAT(text.out, HasSubstr("zz copy"));
  EXPECT_THAT(text.out, HasSubstr("training should wait"));
  const Outcome as_json = check({"--json"});
  EXPECT_EQ(as_json.status, 3);
  EXPECT_EQ(count(as_json, "leak-same"), 1u);
  EXPECT_EQ(count(as_json, "box-speck"), 1u);
  EXPECT_EQ(maskfit({"data", "check", (folder_ / "nothing here").string()}).status, 1);
}

TEST_F(DataCheck, ReportIsOnePageWithEverythingInIt) {
  const Outcome outcome = check({"--report", (folder_ / "report").string()});
  EXPECT_EQ(outcome.status, 3);
  const std::string page = base::read_file(folder_ / "report/index.html");
  EXPECT_THAT(page, HasSubstr("The same picture in two splits"));
  EXPECT_THAT(page, HasSubstr("data:image/jpeg;base64,"));
  EXPECT_THAT(page, testing::Not(testing::AnyOf(HasSubstr("src=\"http"), HasSubstr("href=\"http"))));
  EXPECT_NO_THROW(std::ignore = json::parse(base::read_file(folder_ / "report/audit.json")));
}

TEST_F(DataCheck, FixMendsTheManifestAndUndoTakesItBack) {
  const std::string before = manifest();
  const Outcome fixed = check({"--fix"});
  EXPECT_EQ(fixed.status, 0) << fixed.out << fixed.err;
  EXPECT_THAT(fixed.out, HasSubstr("after the repairs training can go ahead"));
  const dataset::Dataset mended = dataset::read_dataset(set_);
  EXPECT_EQ(mended.samples.size(), 12u);
  const Outcome again = check({"--json"});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(count(again, "box-speck"), 0u);
  EXPECT_EQ(maskfit({"data", "check", set_.string(), "--undo"}).status, 0);
  EXPECT_EQ(manifest(), before);
  const Outcome nothing = maskfit({"data", "check", set_.string(), "--undo"});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("nothing to take back"));
}

TEST_F(DataCheck, SplitBringsCopiesTogetherAndIsUndone) {
  const std::string before = manifest();
  EXPECT_EQ(maskfit({"data", "split", set_.string(), "--dry-run"}).status, 0);
  EXPECT_EQ(manifest(), before);
  const Outcome split = maskfit({"data", "split", set_.string()});
  EXPECT_EQ(split.status, 0) << split.err;
  EXPECT_THAT(split.out, HasSubstr("1 picture joined similar ones"));
  EXPECT_EQ(count(check({"--json"}), "leak-same"), 0u);
  EXPECT_EQ(maskfit({"data", "split", set_.string(), "--again", "--test-percent", "20"}).status, 0);
  EXPECT_EQ(dataset::count_by_split(dataset::read_dataset(set_)).size(), 3u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(maskfit({"data", "check", set_.string(), "--undo"}).status, 0);
  EXPECT_EQ(manifest(), before);
  EXPECT_EQ(maskfit({"data", "split", set_.string(), "--again", "--val-percent", "120"}).status, 2);
}

TEST_F(DataCheck, AModelLooksForWhatTheLabelsMiss) {
  const fs::path run = folder_ / "run";
  const Outcome trained = maskfit(support::tiny_training(set_, run, 1));
  ASSERT_EQ(trained.status, 0) << trained.err;
  // What it finds is audit_test's matter; here, that a file of ours is taken.
  const Outcome outcome = check({"--json", "--model", (run / "model.safetensors").string()});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(count(outcome, "leak-same"), 1u);
  const Outcome missing = check({"--model", (folder_ / "none.safetensors").string()});
  EXPECT_NE(missing.status, 0);
  EXPECT_THAT(missing.err, HasSubstr("none.safetensors"));
  const Outcome other = check({"--model", (set_ / "samples.jsonl").string()});
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("samples.jsonl"));
}

TEST_F(DataCheck, ShowDrawsEverySheetAndOverwritesNone) {
  for (const std::string by : {"class", "size", "source", "findings", "augmented", "targets"}) {
    const fs::path out = folder_ / ("sheets " + by);
    const std::vector<std::string> words = {"data",   "show",  set_.string(), "-o", out.string(), "--by", by,
                                            "--size", "64x64", "--tile",      "64", "--count",    "8"};
    const Outcome shown = maskfit(words);
    ASSERT_EQ(shown.status, 0) << by << shown.err;
    std::size_t sheets = 0;
    for (const auto& entry : fs::directory_iterator(out)) {
      const image::Image sheet = image::read_image(entry.path());
      EXPECT_GE(sheet.width, 64) << entry.path();
      ++sheets;
    }
    EXPECT_GE(sheets, 1u) << by;
    EXPECT_EQ(maskfit(words).status, 1) << by;
  }
}

}  // namespace
}  // namespace maskfit
