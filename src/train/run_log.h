#pragma once

// Writes what a training tells into its run folder: status.json, metrics.jsonl and TensorBoard events. The
// names of the scalars are the reference's.

#include "formats/tb_events.h"
#include "runs/metrics_log.h"
#include "runs/run_folder.h"
#include "runs/status_log.h"
#include "train/observer.h"

namespace maskfit::train {

class RunLog : public Observer {
 public:
  explicit RunLog(const runs::RunFolder& run);

  void on_step(const StepReport& report) override;
  void on_epoch(const EpochReport& report) override;
  void on_validation(const ValidationReport& report) override;
  void on_notice(Notice notice, const std::string& sentence) override;

  runs::StatusLog& status() { return status_; }
  runs::MetricsLog& metrics() { return metrics_; }

 private:
  // To metrics.jsonl and, each under its name, to the events.
  void log(const runs::MetricsRecord& record);

  runs::StatusLog status_;
  runs::MetricsLog metrics_;
  formats::TbEventWriter events_;
};

}  // namespace maskfit::train
