#include "runs/status_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"

namespace maskfit::runs {
namespace {
using nlohmann::json;

std::tm early_january() {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mon = 0;
  time.tm_mday = 2;
  time.tm_hour = 3;
  time.tm_min = 4;
  time.tm_sec = 5;
  return time;
}

std::vector<json> lines(const std::filesystem::path& path) {
  std::vector<json> parsed;
  for (const std::string& line : base::split(base::read_file(path), '\n')) {
    if (!line.empty()) parsed.push_back(json::parse(line));
  }
  return parsed;
}

TEST(StatusLog, DateAndTimeAreNotZeroPadded) {
  support::TempDir dir;
  StatusLog log(dir / "status.json", early_january);
  log.write(Status::kStarted, "Starting training.");
  EXPECT_EQ(base::read_file(dir / "status.json"),
            "{\"date\":\"1/2/2026\",\"time\":\"3:4:5\",\"status\":\"STARTED\",\"verbosity\":\"INFO\","
            "\"message\":\"Starting training.\"}\n");
}

TEST(StatusLog, EpochLineHasTheReferencesKeys) {
  support::TempDir dir;
  StatusLog log(dir / "status.json", early_january);
  log.write_epoch({3, 120, 187.4, 93784, 0.25, 5e-4});
  const json line = lines(dir / "status.json").at(0);
  EXPECT_EQ(line.at("status"), "RUNNING");
  EXPECT_EQ(line.at("epoch"), 3);
  EXPECT_EQ(line.at("max_epoch"), 120);
  EXPECT_EQ(line.at("time_per_epoch"), "0:03:07");
  EXPECT_EQ(line.at("eta"), "1 day, 2:03:04");
  EXPECT_EQ(line.at("graphical").at("loss"), 0.25);
  EXPECT_EQ(line.at("graphical").at("learning_rate"), "0.0005");
}

TEST(StatusLog, EvaluationIsRoundedInPercent) {
  support::TempDir dir;
  StatusLog log(dir / "status.json", early_january);
  log.write_evaluation(0.123456789012, 0.6543219, {{"mask", 0.70000049}, {"no-mask", 0}});
  const json line = lines(dir / "status.json").at(0);
  EXPECT_EQ(line.at("message"), "Evaluation metrics generated.");
  EXPECT_EQ(line.at("kpi").at("validation cost"), 0.12345679);
  EXPECT_EQ(line.at("kpi").at("mean average precision"), 65.4322);
  EXPECT_EQ(line.at("categorical").at("average_precision").at("mask"), 70.0);
}

TEST(StatusLog, FiguresStayInLaterLines) {
  support::TempDir dir;
  StatusLog log(dir / "status.json", early_january);
  log.write_evaluation(0.5, 0.25, {{"mask", 0.25}});
  log.write_epoch({1, 1, 1, 0, 0.5, 1e-3});
  log.write(Status::kSuccess, "done");
  const json last = lines(dir / "status.json").at(2);
  EXPECT_EQ(last.at("kpi").at("mean average precision"), 25.0);
  EXPECT_TRUE(last.contains("categorical"));
  EXPECT_TRUE(last.contains("graphical"));
  EXPECT_FALSE(last.contains("epoch")) << "epoch belongs to its line alone";
}

TEST(StatusLog, NonFiniteLossAndBadUtf8StillMakeJson) {
  support::TempDir dir;
  StatusLog log(dir / "status.json", early_january);
  log.write_epoch(
      {1, 1, std::numeric_limits<double>::quiet_NaN(), 0, std::numeric_limits<double>::infinity(), 1});
  log.write(Status::kFailure, "loss is not finite in \xff.jpg", Verbosity::kError);
  EXPECT_TRUE(lines(dir / "status.json").at(0).at("graphical").at("loss").is_null());
  EXPECT_EQ(lines(dir / "status.json").at(1).at("verbosity"), "ERROR");
}

TEST(StatusLog, ASecondRunAppends) {
  support::TempDir dir;
  StatusLog(dir / "status.json", early_january).write(Status::kStarted, "first");
  StatusLog(dir / "status.json", early_january).write(Status::kStarted, "second");
  EXPECT_EQ(lines(dir / "status.json").size(), 2u);
}

}  // namespace
}  // namespace maskfit::runs
