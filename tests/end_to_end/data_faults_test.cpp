// The data commands where things go wrong: killed at any moment, a file system that takes no more, odd names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "dataset/dataset.h"
#include "dataset/synthetic.h"
#include "tests/end_to_end/binary.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using support::maskfit;
using support::Outcome;
using testing::HasSubstr;

class DataFaults : public testing::Test {
 protected:
  // Pictures with Pascal VOC labels beside them.
  void write_photos(int pictures) {
    dataset::SyntheticOptions options;
    options.pictures = pictures;
    options.size = {96, 96};
    options.min_face_height = 24;
    options.max_face_height = 48;
    dataset::write_synthetic(options, folder_ / "drawn");
    ASSERT_EQ(
        maskfit({"data", "convert", (folder_ / "drawn").string(), "--to", "voc", "-o", photos()}).status, 0);
  }
  std::string photos() const { return (folder_ / "photos").string(); }
  std::vector<std::string> beside(const std::string& beginning) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(beginning)) names.push_back(name);
    }
    return names;
  }

  support::TempDir folder_;
};

// Ctrl-C and kill -9 after more and more of the way: the same command then does it all.
TEST_F(DataFaults, AKilledImportIsNoObstacleToTheNext) {
  write_photos(200);
  for (const std::string signal : {"KILL", "INT"}) {
    for (const std::string mode : {"link", "copy"}) {
      for (const std::string seconds : {"0.05", "0.1", "0.2", "0.3", "0.5"}) {
        const fs::path set = folder_ / "set";
        fs::remove_all(set);
        const std::vector<std::string> words = {"data",       "import", photos(), "--to",
                                                set.string(), "--mode", mode};
        std::vector<std::string> killed = {"timeout", "-s", signal, seconds, MASKFIT_BINARY};
        killed.insert(killed.end(), words.begin(), words.end());
        support::run_process(killed);
        if (!dataset::is_dataset(set)) {
          const Outcome again = maskfit(words);
          EXPECT_EQ(again.status, 0) << signal << " " << mode << " after " << seconds << again.err;
        }
        EXPECT_EQ(dataset::read_dataset(set).samples.size(), 200u);
      }
    }
  }
}

TEST_F(DataFaults, AKilledConversionLeavesNothingAfterTheNext) {
  write_photos(100);
  for (const std::string seconds : {"0.05", "0.15", "0.25"}) {
    for (const std::string format : {"coco", "voc"}) {
      const std::string out = (folder_ / ("out " + format)).string();
      fs::remove_all(out);
      const std::vector<std::string> words = {"data", "convert", (folder_ / "drawn").string(), "--to", format,
                                              "-o",   out};
      std::vector<std::string> killed = {"timeout", "-s", "KILL", seconds, MASKFIT_BINARY};
      killed.insert(killed.end(), words.begin(), words.end());
      support::run_process(killed);
      if (!fs::exists(out)) {
        EXPECT_EQ(maskfit(words).status, 0) << format << " after " << seconds;
      }
      EXPECT_TRUE(fs::exists(out));
      EXPECT_THAT(beside(".out " + format), testing::IsEmpty());
    }
  }
}

// A limit on the size of files stands in for a full disk.
TEST_F(DataFaults, WhatCannotBeWrittenIsNamedAndLeavesNothing) {
  write_photos(60);
  const std::string set = (folder_ / "set").string();
  const std::string limited = "trap '' XFSZ; ulimit -f 4; exec \"$@\"";
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"bash", "-c", limited, "bash", MASKFIT_BINARY});
    return support::run_process(words);
  };
  const Outcome import = run({"data", "import", photos(), "--to", set});
  EXPECT_EQ(import.status, 1);
  EXPECT_THAT(import.err, HasSubstr("File too large"));
  EXPECT_FALSE(fs::exists(set));
  const std::string out = (folder_ / "coco").string();
  const Outcome convert =
      run({"data", "convert", (folder_ / "drawn").string(), "--to", "coco", "-o", out, "--pictures", "copy"});
  EXPECT_EQ(convert.status, 1);
  EXPECT_THAT(convert.err, HasSubstr("File too large"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_THAT(beside(".coco"), testing::IsEmpty());
}

TEST_F(DataFaults, OddNamesGoThroughEveryFormat) {
  write_photos(6);
  const std::string names[] = {"ünï 口罩 %20 100%", "new\nline", std::string(240, 'x'), "-rf",
                               "quote\"s'",         "a.b.c"};
  std::size_t at = 0;
  std::vector<fs::path> pictures;
  std::map<std::string, fs::path> labels;
  for (const auto& entry : fs::recursive_directory_iterator(photos())) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".xml") labels[entry.path().stem().string()] = entry.path();
    if (ending == ".jpg" || ending == ".png") pictures.push_back(entry.path());
  }
  ASSERT_EQ(pictures.size(), 6u);
  const fs::path odd = folder_ / "odd set [1]*";
  fs::create_directories(odd);
  for (const fs::path& picture : pictures) {
    fs::copy_file(picture, odd / (names[at] + picture.extension().string()));
    fs::copy_file(labels.at(picture.stem().string()), odd / (names[at] + ".xml"));
    ++at;
  }
  fs::create_symlink("loop", odd / "loop");
  const Outcome import = maskfit({"data", "import", odd.string(), "--to", (folder_ / "set").string()});
  ASSERT_EQ(import.status, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("13 files: 12 used, 0 repaired, 1 refused"));
  for (const std::string format : {"kitti", "voc", "yolo", "coco"}) {
    const std::string out = (folder_ / format).string();
    EXPECT_EQ(maskfit({"data", "convert", (folder_ / "set").string(), "--to", format, "-o", out}).status, 0);
    const Outcome back = maskfit({"data", "import", out, "--to", out + " set"});
    EXPECT_EQ(back.status, 0) << back.err;
    EXPECT_EQ(dataset::read_dataset(out + " set").samples.size(), 6u) << format;
  }
}

// Not a byte of it is believed: depth, counts and sizes are bounded.
TEST_F(DataFaults, HugeXmlAndJsonEndInBoundedTimeAndMemory) {
  write_photos(3);
  std::string deep, wide = "<annotation>";
  for (int i = 0; i < 200'000; ++i) deep += "<a>";
  for (int i = 0; i < 100'000; ++i) wide += "<object><name>mask</name></object>";
  base::write_file(fs::path(photos()) / "deep.xml", deep);
  base::write_file(fs::path(photos()) / "wide.xml", wide + "</annotation>");
  base::write_file(fs::path(photos()) / "deep.json", std::string(5'000'000, '['));
  base::write_file(
      fs::path(photos()) / "laughs.xml",
      "<!DOCTYPE a [<!ENTITY b \"&c;&c;&c;&c;&c;\"><!ENTITY c \"&d;&d;&d;\">]><annotation>&b;</annotation>");
  const Outcome outcome =
      support::run_process({"bash", "-c", "ulimit -v 4000000; exec timeout 60 \"$@\"", "bash", MASKFIT_BINARY,
                            "data", "import", photos(), "--to", (folder_ / "set").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("4 refused"));
}

}  // namespace
}  // namespace maskfit
