#pragma once

// What happens between two epochs: auto-weighting, validation, the best model, a checkpoint; and at the end
// of the run the final model and the report.

#include <chrono>
#include <optional>

#include "runs/checkpoint_store.h"
#include "train/run_log.h"
#include "train/session.h"
#include "train/step_reports.h"
#include "train/validation.h"

namespace maskfit::train {

class EpochEnd {
 public:
  EpochEnd(Session& session, const runs::CheckpointStore& store, RunLog& log, Observer& observer);

  // After the last step of an epoch.
  void run(StepReports& reports);
  // After the last epoch: model.safetensors, report.html.
  void finish();
  void save_checkpoint();
  // mAP of the last validation in this session; NaN when there was none.
  double last_map() const;

 private:
  void validate();
  double validation_cost(const model::Outputs& outputs, std::int64_t first, std::int64_t count) const;
  void write_model(const std::filesystem::path& path, const evaluate::Evaluation* evaluation);
  void write_report();

  Session& s_;
  const runs::CheckpointStore& store_;
  RunLog& log_;
  Observer& observer_;
  std::optional<Validation> last_validation_;
  std::int64_t last_validated_step_ = -1;
  std::chrono::steady_clock::time_point last_save_;
};

}  // namespace maskfit::train
