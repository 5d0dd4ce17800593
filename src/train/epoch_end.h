#pragma once

// What happens between two epochs: auto-weighting, validation, the best model, a checkpoint; and at the end
// of the run the final model and the report.
//
// Beside a GPU nothing of it is waited for but the network's run over the validation pictures: boxes and
// figures are made on other threads, files are written on one. What depends on a validation's figures (which
// model is the best, and so the checkpoint) follows when they are there.

#include <chrono>
#include <memory>
#include <optional>

#include "base/background.h"
#include "runs/checkpoint_store.h"
#include "train/run_log.h"
#include "train/session.h"
#include "train/snapshot.h"
#include "train/step_reports.h"
#include "train/validation.h"

namespace maskfit::train {

class EpochEnd {
 public:
  // With ranks all functions are meetings of all.
  EpochEnd(Session& session, const runs::CheckpointStore& store, RunLog* log, Observer& observer);

  // After the last step of an epoch.
  void run(StepReports& reports);
  // Between steps: takes the figures of a validation in, if they are there.
  void poll();
  // After the last epoch: model.safetensors, report.html.
  void finish();
  // Returns when the checkpoint is on the disk.
  void save_checkpoint();
  // mAP of the last validation in this session; NaN when there was none.
  double last_map() const;

 private:
  // A validation whose figures are not there yet.
  struct Pending {
    PendingValidation validation;
    std::shared_ptr<const Snapshot> snapshot;  // of the weights that are validated
    Position at;
    bool save = false;  // a checkpoint of the snapshot is due, too
  };

  void validate();
  ValidationOptions validation_options();
  at::Tensor validation_cost(const model::Outputs& outputs, std::int64_t first, std::int64_t count) const;
  // Waits for the pending validation, if there is one, and takes its figures in.
  void settle();
  // snapshot: of the weights that were validated; null: the session still has them.
  void take_in(Validation validation, std::shared_ptr<const Snapshot> snapshot, const Position& at);
  // Rank 0's number, on all ranks.
  double of_first(double value) const;
  void checkpoint_is_due();
  // These hand over to the writer; other ranks than the first have nothing to write.
  void write_checkpoint(std::shared_ptr<const Snapshot> snapshot, std::int64_t step);
  void write_model(const std::filesystem::path& path, std::shared_ptr<const Snapshot> snapshot,
                   const Position& at, std::optional<evaluate::Evaluation> evaluation);
  void write_report();

  Session& s_;
  const runs::CheckpointStore& store_;
  RunLog* log_;  // null on other ranks than the first
  Observer& observer_;
  const bool beside_gpu_;
  network::Network network_;             // with the weights of the beginning
  std::unique_ptr<PlainPixels> pixels_;  // of the validation pictures
  std::optional<Pending> pending_;
  std::optional<Validation> last_validation_;  // an empty one on other ranks than the first
  std::int64_t last_validated_step_ = -1;
  std::chrono::steady_clock::time_point last_save_;
  base::Background writer_;  // last: it finishes before what it uses goes
};

}  // namespace maskfit::train
