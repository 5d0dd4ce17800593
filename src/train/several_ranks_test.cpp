// A training by several ranks, as threads of this process, against the same training by one.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/files.h"
#include "dataset/synthetic.h"
#include "model/outputs.h"
#include "runs/metrics_log.h"
#include "spec/print.h"
#include "tests/support/rank_threads.h"
#include "tests/support/temp_dir.h"
#include "train/build_network.h"
#include "train/train_loop.h"
#include "train/validation.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;

// Stops the run after some step; on one rank only, as a signal that reaches the others late.
class StopAfter : public Observer {
 public:
  explicit StopAfter(std::int64_t step) : step_(step) {}
  void on_progress(const StepReport& report) override { stopped_ = stopped_ || report.at.step == step_; }
  base::StopToken token() const { return base::StopToken(&stopped_); }

 private:
  std::int64_t step_;
  std::atomic<bool> stopped_{false};
};

class SeveralRanksTest : public testing::Test {
 protected:
  SeveralRanksTest() {
    dataset::SyntheticOptions drawn;
    drawn.pictures = 32;
    drawn.size = {64, 64};
    drawn.min_face_height = 16;
    drawn.max_face_height = 40;
    drawn.val_percent = 25;
    data_ = dataset::write_synthetic(drawn, dir_ / "data");
    request_.backbone = "resnet10";
    request_.size = "64x64";
    request_.epochs = 3;
    request_.assignments = {"model_config.width_multiplier=0.25", "training_config.checkpoint_interval=1",
                            "training_config.threads=1", "evaluation_config.first_validation_epoch=1",
                            "evaluation_config.validation_period_during_training=1"};
  }

  RunRequest with_batch(int batch, bool sync_batch_norm) const {
    RunRequest request = request_;
    request.batch = batch;
    if (sync_batch_norm) request.assignments.push_back("training_config.sync_batch_norm=true");
    return request;
  }

  RunPlace place(const std::string& name, bool resume) const {
    return {.data = data_.root, .out = dir_ / name, .resume = resume};
  }

  // Steps, of rank 0.
  TrainResult run(const RunRequest& request, const std::string& name, int ranks, bool resume = false,
                  std::int64_t stop_after = -1) {
    if (ranks == 1) {
      StopAfter observer(stop_after);
      return train(prepare_run(request, place(name, resume)), {.stop = observer.token()}, observer);
    }
    TrainResult of_first;
    const std::vector<std::string> errors = support::run_ranks(ranks, [&](ranks::Group& group) {
      StopAfter observer(stop_after);
      TrainOptions options;
      options.group = &group;
      options.stop = observer.token();
      if (group.is_first()) {
        RunRequest of_all = request;
        of_all.ranks = ranks;
        const PreparedRun prepared = prepare_run(of_all, place(name, resume));
        group.broadcast(spec::to_text(prepared.experiment, {.comments = false}));
        of_first = train(prepared, options, observer);
      } else {
        train(prepare_rank(request, place(name, resume), group.broadcast("")), options, observer);
      }
    });
    EXPECT_THAT(errors, testing::Each("")) << name;
    return of_first;
  }

  std::vector<double> logged(const std::string& run, const std::string& number) const {
    std::vector<double> values;
    for (const auto& record : runs::MetricsLog(dir_ / run / "metrics.jsonl").read()) {
      for (const auto& [name, value] : record.values) {
        if (name == number) values.push_back(value);
      }
    }
    return values;
  }

  support::TempDir dir_;
  dataset::Dataset data_;
  RunRequest request_;
};

TEST_F(SeveralRanksTest, WithSyncBatchNormTheLossIsThatOfOneRankWithTheWholeBatch) {
  for (const char* recipe : {"scratch", "tlt"}) {
    request_.recipe = recipe;
    const std::string tag = std::string("-") + recipe;
    run(with_batch(8, false), "one" + tag, 1);
    run(with_batch(4, true), "two" + tag, 2);
    run(with_batch(2, true), "four" + tag, 4);
    const std::vector<double> one = logged("one" + tag, "total_cost");
    ASSERT_EQ(one.size(), 9u);
    for (const std::string name : {"two", "four"}) {
      const std::vector<double> many = logged(name + tag, "total_cost");
      ASSERT_EQ(many.size(), one.size());
      // Adam makes a whole step of the sign of a tiny gradient, so that rounding grows from step to step.
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_NEAR(many[i], one[i], (i < 3 ? 1e-3 : 2e-2) * one[i]) << name << tag << " step " << i;
      }
      // The first step is that of the same weights: its loss and its gradient differ by rounding alone.
      EXPECT_NEAR(many[0], one[0], 1e-5 * one[0]) << name << tag;
      const double norm = logged("one" + tag, "gradient_norm")[0];
      EXPECT_NEAR(logged(name + tag, "gradient_norm")[0], norm, 1e-3 * norm) << name << tag;
    }
  }
}

// The batch norms differ, nothing else: the same pictures in the same steps.
TEST_F(SeveralRanksTest, WithoutItTheLossIsNear) {
  run(with_batch(8, false), "one", 1);
  run(with_batch(4, false), "two", 2);
  const std::vector<double> one = logged("one", "total_cost"), two = logged("two", "total_cost");
  ASSERT_EQ(two.size(), one.size());
  EXPECT_NE(two[0], one[0]);
  EXPECT_NEAR(two[0], one[0], 0.2 * one[0]);
}

// Every picture has detections: the coverage of an untrained network, lifted over the threshold.
TEST_F(SeveralRanksTest, WhoeverSharesTheValidationItsDetectionsAreTheSameBits) {
  const PreparedRun prepared = prepare_run(with_batch(3, false), place("run", false));
  network::Network network = build_network(prepared.experiment);
  for (float& bias : network.weights.at("output_cov/bias").values) bias = 1;
  const loader::PictureSet pictures(prepared.data.val, prepared.classes,
                                    picture_options(prepared.experiment));
  ASSERT_EQ(pictures.size(), 8);
  std::vector<Validation> shared(4);
  for (const int ranks : {1, 2, 3}) {
    const auto errors = support::run_ranks(ranks, [&](ranks::Group& group) {
      at::set_num_threads(1);
      model::Detector detector(network, "cpu", model::Precision::kFloat32);
      ValidationOptions options;
      options.group = &group;
      options.cost = [](const model::Outputs& outputs, std::int64_t, std::int64_t) {
        return outputs.bbox.mean();
      };
      Validation validation = validate(detector, pictures, prepared.experiment, options);
      if (group.is_first()) shared[static_cast<std::size_t>(ranks)] = std::move(validation);
    });
    EXPECT_THAT(errors, testing::Each(""));
  }
  const Validation& one = shared[1];
  std::size_t detections = 0;
  for (const auto& picture : one.detected.pictures) detections += picture.detections.size();
  EXPECT_GT(detections, 8u);
  for (const std::size_t ranks : {2, 3}) {
    const Validation& many = shared[ranks];
    EXPECT_EQ(many.evaluation.map, one.evaluation.map);
    EXPECT_EQ(many.evaluation.map50_95, one.evaluation.map50_95);
    EXPECT_EQ(many.detected.cost, one.detected.cost);
    for (std::size_t i = 0; i < one.detected.pictures.size(); ++i) {
      const auto& wanted = one.detected.pictures[i];
      const auto& got = many.detected.pictures[i];
      EXPECT_EQ(got.id, wanted.id);
      ASSERT_EQ(got.detections.size(), wanted.detections.size()) << i;
      for (std::size_t d = 0; d < wanted.detections.size(); ++d) {
        EXPECT_EQ(got.detections[d].box, wanted.detections[d].box);
        EXPECT_EQ(got.detections[d].confidence, wanted.detections[d].confidence);
        EXPECT_EQ(got.detections[d].class_index, wanted.detections[d].class_index);
      }
    }
  }
}

TEST_F(SeveralRanksTest, AnotherNumberOfRanksGoesOnWhereTheOthersStopped) {
  // 24 training pictures: 3 steps an epoch of 2 x 4, 6 of 1 x 4.
  const TrainResult stopped = run(with_batch(4, false), "run", 2, false, 4);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.steps, 4);
  RunRequest resumed;
  const TrainResult finished = run(resumed, "run", 1, true);
  EXPECT_EQ(finished.steps, 18);
  EXPECT_FALSE(finished.interrupted);
  EXPECT_EQ(finished.epochs, 3);

  EXPECT_TRUE(run(with_batch(4, false), "other", 1, false, 7).interrupted);
  EXPECT_EQ(run(resumed, "other", 3, true).steps, 6) << "2 steps an epoch of 3 x 4";
}

TEST_F(SeveralRanksTest, ResumedByAsManyItIsTheUninterruptedRunBitForBit) {
  const RunRequest request = with_batch(4, false);
  run(request, "straight", 2);
  EXPECT_TRUE(run(request, "stopped", 2, false, 4).interrupted);
  run(request, "stopped", 2, true);
  EXPECT_EQ(base::read_file(dir_ / "stopped/model.safetensors"),
            base::read_file(dir_ / "straight/model.safetensors"));
}

}  // namespace
}  // namespace maskfit::train
