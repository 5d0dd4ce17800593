// Whole small trainings on a GPU, where steps are recorded and replayed.

#include "train/train_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "dataset/synthetic.h"
#include "runs/metrics_log.h"
#include "tensor/device.h"
#include "tests/support/temp_dir.h"

namespace maskfit::train {
namespace {

class StopAfter : public Observer {
 public:
  explicit StopAfter(std::int64_t step = -1) : step_(step) {}
  void on_progress(const StepReport& report) override {
    if (report.at.step == step_) stopped_ = true;
  }
  base::StopToken token() const { return base::StopToken(&stopped_); }

 private:
  std::int64_t step_;
  std::atomic<bool> stopped_{false};
};

class TrainLoopGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (tensor::gpu_count() == 0) GTEST_SKIP() << "no GPU that this build can use";
    dataset::SyntheticOptions drawn;
    drawn.pictures = 16;
    drawn.size = {96, 64};
    drawn.min_face_height = 16;
    drawn.max_face_height = 40;
    drawn.val_percent = 25;
    data_ = dataset::write_synthetic(drawn, dir_ / "data");
    request_.backbone = "resnet10";
    request_.size = "96x64";
    request_.batch = 4;
    request_.epochs = 6;
    request_.precision = "fp32";
    request_.assignments = {"model_config.width_multiplier=0.25", "training_config.checkpoint_interval=1"};
  }

  TrainResult run(const std::string& name, const std::string& device, bool resume = false,
                  std::int64_t stop = -1) {
    StopAfter observer(stop);
    const PreparedRun prepared =
        prepare_run(request_, {.data = data_.root, .out = dir_ / name, .resume = resume});
    TrainOptions options;
    options.device = device;
    options.stop = observer.token();
    return train(prepared, options, observer);
  }

  // The logged value of every record that has it.
  std::vector<double> logged(const std::string& name, const std::string& key) {
    std::vector<double> list;
    for (const auto& record : runs::MetricsLog(dir_ / name / "metrics.jsonl").read()) {
      for (const auto& [what, value] : record.values) {
        if (what == key) list.push_back(value);
      }
    }
    return list;
  }

  // Means of the first and the last third of a list.
  struct Thirds {
    double first = 0, last = 0;
  };
  static Thirds thirds(const std::vector<double>& list) {
    const auto third = static_cast<std::ptrdiff_t>(list.size() / 3);
    EXPECT_GT(third, 0);
    return {std::accumulate(list.begin(), list.begin() + third, 0.0) / static_cast<double>(third),
            std::accumulate(list.end() - third, list.end(), 0.0) / static_cast<double>(third)};
  }

  void expect_near_lists(const std::vector<double>& actual, const std::vector<double>& wanted, double share) {
    ASSERT_EQ(actual.size(), wanted.size());
    ASSERT_FALSE(wanted.empty());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(actual[i], wanted[i], share * std::abs(wanted[i])) << "record " << i;
    }
  }

  support::TempDir dir_;
  dataset::Dataset data_;
  RunRequest request_;
};

// Steps of so few pictures are noisy, so means are compared. The task-aligned loss of the recipe scratch
// hardly falls in so few steps, for it is divided by the quality that grows with what is learnt; without
// mosaics, whose quarters are too small here, it does.
TEST_F(TrainLoopGpuTest, TheLossFallsAlikeInEitherPrecision) {
  request_.epochs = 40;
  request_.assignments.push_back("augmentation_config.mosaic_probability=0");
  for (const std::string recipe : {"scratch", "tlt"}) {
    SCOPED_TRACE(recipe);
    request_.recipe = recipe;
    request_.precision = "fp32";
    run("fp32-" + recipe, "cuda");
    request_.precision = "bf16";
    run("bf16-" + recipe, "cuda");
    const Thirds fp32 = thirds(logged("fp32-" + recipe, "task_cost"));
    const Thirds bf16 = thirds(logged("bf16-" + recipe, "task_cost"));
    EXPECT_LT(fp32.last, fp32.first);
    EXPECT_LT(bf16.last, bf16.first);
    EXPECT_NEAR(bf16.first, fp32.first, 0.15 * fp32.first);
    EXPECT_NEAR(bf16.last, fp32.last, 0.25 * fp32.last);
  }
}

TEST_F(TrainLoopGpuTest, AResumedRunGoesOnWhereItStopped) {
  run("straight", "cuda");
  EXPECT_TRUE(run("stopped", "cuda", false, 7).interrupted);
  EXPECT_EQ(run("stopped", "cuda", true).steps, 18);
  expect_near_lists(logged("stopped", "task_cost"), logged("straight", "task_cost"), 0.1);
}

TEST_F(TrainLoopGpuTest, LossScalingIsBroughtBackFromTheDevice) {
  request_.recipe = "tlt";
  request_.precision = "fp16";
  request_.assignments.push_back("training_config.cost_scaling.enabled=true");
  request_.assignments.push_back("training_config.cost_scaling.initial_exponent=40");  // overflows at first
  const TrainResult result = run("scaled", "cuda");
  EXPECT_EQ(result.steps, 18);
  for (const double loss : logged("scaled", "task_cost")) EXPECT_TRUE(std::isfinite(loss));
}

}  // namespace
}  // namespace maskfit::train
