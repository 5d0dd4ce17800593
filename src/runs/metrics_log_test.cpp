#include "runs/metrics_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace maskfit::runs {
namespace {
using testing::HasSubstr;

MetricsRecord record(std::int64_t step, double loss) {
  return {"train", 1 + step / 10, step, {{"total_cost", loss}}};
}

TEST(MetricsLog, ReadsWhatItWroteBitForBit) {
  support::TempDir dir;
  const MetricsLog log(dir / "metrics.jsonl");
  const double awkward = 0.1 + 0.2;
  log.append({"validation", 2, 80, {{"mAP", awkward}, {"AP/mask", 1e-300}}});
  const auto records = log.read();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].kind, "validation");
  EXPECT_EQ(records[0].epoch, 2);
  EXPECT_EQ(records[0].step, 80);
  EXPECT_EQ(records[0].value("mAP"), awkward);
  EXPECT_EQ(records[0].value("AP/mask"), 1e-300);
  EXPECT_TRUE(std::isnan(records[0].value("no such name")));
}

TEST(MetricsLog, NotANumberIsNullBecauseJsonHasNone) {
  support::TempDir dir;
  const MetricsLog log(dir / "metrics.jsonl");
  log.append(record(1, std::numeric_limits<double>::infinity()));
  EXPECT_EQ(base::read_file(dir / "metrics.jsonl"),
            "{\"kind\":\"train\",\"epoch\":1,\"step\":1,\"total_cost\":null}\n");
  EXPECT_TRUE(std::isnan(log.read()[0].value("total_cost")));
}

TEST(MetricsLog, NoFileMeansNoRecords) {
  support::TempDir dir;
  EXPECT_TRUE(MetricsLog(dir / "none.jsonl").read().empty());
  MetricsLog(dir / "none.jsonl").drop_after(0);
}

TEST(MetricsLog, TornLastLineIsLeftOut) {
  support::TempDir dir;
  const MetricsLog log(dir / "metrics.jsonl");
  log.append(record(1, 0.5));
  const std::string whole = base::read_file(dir / "metrics.jsonl");
  base::write_file(dir / "metrics.jsonl", whole + whole.substr(0, whole.size() / 2));
  EXPECT_EQ(log.read().size(), 1u);
}

TEST(MetricsLog, BrokenLineInTheMiddleIsRefusedWithItsNumber) {
  support::TempDir dir;
  const MetricsLog log(dir / "metrics.jsonl");
  log.append(record(1, 0.5));
  base::append_line(dir / "metrics.jsonl", "{\"kind\":\"train\"");
  log.append(record(2, 0.5));
  try {
    log.read();
    FAIL() << "accepted a broken line";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.where(), HasSubstr("metrics.jsonl:2"));
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  }
}

TEST(MetricsLog, ResumeForgetsWhatItWillLogAgain) {
  support::TempDir dir;
  const MetricsLog log(dir / "metrics.jsonl");
  for (int step : {10, 20, 30}) log.append(record(step, step));
  base::write_file(dir / "metrics.jsonl", base::read_file(dir / "metrics.jsonl") + "{\"kind\":\"tr");
  log.drop_after(20);
  log.append(record(30, 31));
  const auto records = log.read();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].step, 20);
  EXPECT_EQ(records[2].value("total_cost"), 31);
}

}  // namespace
}  // namespace maskfit::runs
