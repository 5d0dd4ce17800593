#pragma once

// The parts of a training, wired together from its spec, and their state as a checkpoint.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "loader/batch_planner.h"
#include "loader/picture_set.h"
#include "loss/detection_loss.h"
#include "loss/regulariser.h"
#include "model/detector.h"
#include "ranks/group.h"
#include "tensor/rank_mean.h"
#include "train/checkpoint.h"
#include "train/ema.h"
#include "train/gradient_buckets.h"
#include "train/loss_scaling.h"
#include "train/observer.h"
#include "train/optimizer.h"
#include "train/prepare_run.h"
#include "train/schedule.h"
#include "train/step_monitor.h"
#include "train/target_batch.h"
#include "train/teacher.h"
#include "train/time_spent.h"

namespace maskfit::train {

// What the command line decides and the spec does not.
struct TrainOptions {
  std::string device = "cpu";     // "cpu", "cuda", "cuda:1"
  bool reference_exact = false;   // the reference's quirks (docs/numerics.md)
  int keep_checkpoints = 3;       // the newest ones; 0: all
  ranks::Group* group = nullptr;  // the processes of this training; null: this one alone
  base::StopToken stop;           // asked between two steps: save, then leave
  std::function<void(std::int64_t done, std::int64_t total)> decoding;  // progress of reading the pictures
};

// The best validation so far.
struct BestModel {
  double map = -1;
  std::int64_t epoch = 0;  // 1-based; 0: none yet
};

struct Session {
  // Reads the pictures and builds the network. `run` must outlive this.
  Session(const PreparedRun& run, const TrainOptions& options, Observer& observer);

  // Whether this rank writes, saves and reports; the others only compute.
  bool is_first() const { return options.group == nullptr || options.group->is_first(); }
  // Validation and checkpoints have rank 0's moving statistics: without sync_batch_norm every rank gathers
  // its own. A meeting of all ranks.
  void take_statistics_of_first();
  std::int64_t steps_per_epoch() const { return planner->steps_per_epoch(); }
  std::int64_t epochs() const;
  std::int64_t total_steps() const { return epochs() * steps_per_epoch(); }
  // Where `step` finished steps stand.
  Position position(std::int64_t finished_steps) const;

  // Weights and moving statistics together.
  std::vector<std::string> array_names() const;
  std::vector<at::Tensor> array_tensors() const;
  // Everything that the next step depends on is this and the arrays; see snapshot.h.
  Checkpoint state_without_arrays() const;
  // Throws base::Error (kRefused) for a checkpoint of another network, spec or dataset.
  void restore(const Checkpoint& checkpoint);
  std::int64_t step_of(const Checkpoint& checkpoint) const;

  const PreparedRun& run;
  TrainOptions options;
  TimeSpent spent;
  std::vector<std::string> class_names;
  std::unique_ptr<loader::PictureSet> train_pictures, val_pictures;  // val_pictures: null without any
  std::unique_ptr<loader::BatchPlanner> planner;
  TargetOptions target_options;
  std::unique_ptr<tensor::RankMean> mean;  // null without a group; before what uses it
  std::unique_ptr<model::Detector> detector;
  std::unique_ptr<loss::DetectionLoss> loss;
  std::unique_ptr<Teacher> teacher;  // null without distillation
  loss::Regulariser regulariser;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<LearningRate> learning_rate;
  std::unique_ptr<GradientBuckets> buckets;  // null without a group
  LossScaling scaling;
  std::unique_ptr<WeightAverage> average;
  StepMonitor monitor;
  BestModel best;
  std::int64_t step = 0;                       // finished steps
  std::map<std::string, std::string> lineage;  // of the network that was loaded, see ModelOrigin
};

}  // namespace maskfit::train
