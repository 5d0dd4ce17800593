#pragma once

// What the steps of a training eat, made ahead of time on CPU threads, in order.

#include <cstdint>

#include "loader/batch.h"
#include "loader/batch_planner.h"
#include "loader/picture_set.h"
#include "loader/prefetch.h"
#include "train/target_batch.h"

namespace maskfit::train {

struct StepInput {
  loader::BatchPlan plan;
  loader::PixelBatch pixels;  // empty when the device makes the pixels itself
  TargetBatch targets;
};

struct StepInputOptions {
  std::int64_t first_step = 0, last_step = 0;  // steps of the whole run, [first, last)
  bool with_pixels = true;
  int threads = 1;
  int ahead = 2;  // batches finished or in the making; each holds its pixels
};

class StepInputs {
 public:
  // pictures, planner and targets must outlive this.
  StepInputs(const loader::PictureSet& pictures, const loader::BatchPlanner& planner,
             const TargetOptions& targets, const StepInputOptions& options);

  bool done() const { return inputs_.done(); }
  StepInput next() { return inputs_.next(); }

 private:
  loader::Prefetch<StepInput> inputs_;
};

}  // namespace maskfit::train
