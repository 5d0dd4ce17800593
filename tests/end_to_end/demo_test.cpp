// `maskfit demo`, cut short: that it goes all the way. What it reaches in its full length, 0.9 of mAP, `./dev
// demo` shows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/end_to_end/tiny_data.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace maskfit {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

support::Outcome demo(std::vector<std::string> words) {
  words.insert(words.begin(), {MASKFIT_BINARY, "demo", "--epochs", "1"});
  return support::run_process(words);
}

TEST(Demo, DrawsTrainsReportsAndShowsDetections) {
  const support::TempDir folder;
  const support::Outcome outcome = demo({"--out", (folder / "demo").string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("mAP"));
  for (const char* file : {"data/dataset.json", "model.safetensors", "report.html", "detections.jpg"}) {
    EXPECT_TRUE(fs::exists(folder / "demo" / file)) << file;
  }
}

TEST(Demo, TakesRealDataToo) {
  const support::TempDir folder;
  support::write_tiny_data(folder / "mine");
  const support::Outcome outcome =
      demo({"--data", (folder / "mine").string(), "--out", (folder / "demo").string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "demo/data")) << "the data is used where it lies";
  EXPECT_TRUE(fs::exists(folder / "demo/detections.jpg"));
}

TEST(Demo, DoesNotOverwriteARun) {
  const support::TempDir folder;
  base::write_file(folder / "demo/status.json", "{}");
  const support::Outcome outcome = demo({"--out", (folder / "demo").string()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--out"));
}

}  // namespace
}  // namespace maskfit
