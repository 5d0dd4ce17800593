#pragma once

// The training loop.

#include <cstdint>

#include "train/observer.h"
#include "train/prepare_run.h"
#include "train/session.h"

namespace maskfit::train {

struct TrainResult {
  std::int64_t epochs = 0;  // finished
  std::int64_t steps = 0;   // finished
  bool interrupted =
      false;  // options.stop was asked for: a checkpoint was written, there is no final model yet
  BestModel best;
  double last_map = 0;  // of the final model; NaN without validation pictures
  double seconds = 0;   // of this session
};

// Trains to the spec's last epoch, from the newest whole checkpoint where the folder has one. Leaves model,
// best model, logs and report in the run folder. With options.group every rank calls it with the same spec
// and data; rank 0 alone writes and tells its observer. Throws base::Error (kFailed) naming the pictures when
// the loss is lost.
TrainResult train(const PreparedRun& run, const TrainOptions& options, Observer& observer);

}  // namespace maskfit::train
