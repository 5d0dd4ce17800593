#include "train/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "tests/support/temp_dir.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;

StepReport step_report() {
  StepReport report;
  report.at = {2, 10, 4, 8, 12};
  report.costs = {0.5, 0.4, 0.1, {{"mask", "cov", 0.2, 0.5, 1.0}, {"mask", "bbox", 0.6, 0.5, 1.0}}};
  report.learning_rate = 1e-3;
  return report;
}

class RunLogTest : public testing::Test {
 protected:
  std::vector<formats::TbScalar> events() const {
    std::vector<formats::TbScalar> scalars;
    for (const auto& entry : fs::directory_iterator(run_.events())) {
      for (auto& scalar : formats::read_tb_scalars(entry.path())) scalars.push_back(scalar);
    }
    return scalars;
  }

  support::TempDir dir_;
  runs::RunFolder run_ = runs::RunFolder::create(dir_ / "run");
};

TEST_F(RunLogTest, ScalarsHaveTheReferencesNamesInBothLogs) {
  RunLog(run_).on_step(step_report());
  std::set<std::string> tags;
  for (const auto& scalar : events()) {
    tags.insert(scalar.tag);
    EXPECT_EQ(scalar.step, 12);
  }
  const auto record = runs::MetricsLog(run_.metrics()).read().at(0);
  for (const char* name : {"total_cost", "task_cost", "regularization_cost", "learning_rate",
                           "mean_cost_mask_cov", "cost_percentage_mask_bbox", "cost_autoweight_mask_cov"}) {
    EXPECT_TRUE(tags.contains(name)) << name;
    EXPECT_FALSE(std::isnan(record.value(name))) << name;
  }
  EXPECT_DOUBLE_EQ(record.value("cost_percentage_mask_bbox"), 75);
  EXPECT_EQ(record.epoch, 2);
}

TEST_F(RunLogTest, ValidationGoesToStatusMetricsAndEvents) {
  evaluate::Evaluation evaluation;
  evaluation.map = 0.5;
  evaluation.classes.resize(1);
  evaluation.classes[0].name = "mask";
  evaluation.classes[0].ap = 0.5;
  ValidationReport report;
  report.at = {2, 10, 8, 8, 16};
  report.evaluation = &evaluation;
  report.validation_cost = 0.25;
  RunLog(run_).on_validation(report);
  const auto record = runs::MetricsLog(run_.metrics()).read().at(0);
  EXPECT_EQ(record.kind, "validation");
  EXPECT_EQ(record.value("mask_AP (in %)"), 50);
  const auto line = nlohmann::json::parse(base::split(base::read_file(run_.status()), '\n').at(0));
  EXPECT_EQ(line.at("kpi").at("mean average precision"), 50.0);
  EXPECT_FALSE(events().empty());
}

TEST_F(RunLogTest, WarningsReachTheStatusFile) {
  RunLog(run_).on_notice(Notice::kWarning, "a batch was skipped");
  const auto line = nlohmann::json::parse(base::split(base::read_file(run_.status()), '\n').at(0));
  EXPECT_EQ(line.at("verbosity"), "WARNING");
  EXPECT_EQ(line.at("message"), "a batch was skipped");
}

TEST_F(RunLogTest, ZeroTaskCostIsNotADivisionByZero) {
  StepReport report = step_report();
  report.costs.task = 0;
  RunLog(run_).on_step(report);
  EXPECT_EQ(runs::MetricsLog(run_.metrics()).read().at(0).value("cost_percentage_mask_cov"), 0);
}

}  // namespace
}  // namespace maskfit::train
