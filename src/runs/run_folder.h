#pragma once

// A run folder: everything that one training leaves behind, under names that never change.
//
//   RUN/experiment_spec.txt  the effective spec: every option with the value it had (protobuf text)
//   RUN/status.json          one JSON object a line, as the reference's (status_log.h)
//   RUN/metrics.jsonl        every logged number, one record a line (metrics_log.h)
//   RUN/events/              TensorBoard event files
//   RUN/checkpoints/         step-<n>.ckpt and step-<n>.ckpt.sha256 (checkpoint_store.h)
//   RUN/model.safetensors    the model of the last epoch
//   RUN/best.safetensors     the model of the epoch with the best validation mAP
//   RUN/report.html          the report, one self-contained page

#include <filesystem>
#include <memory>

#include "base/files.h"

namespace maskfit::runs {

// Holds the folder's lock while it lives: two trainings never write into one folder.
class RunFolder {
 public:
  // A fresh run. An existing run under that name that got anywhere is refused (hint: --resume, another name,
  // --force) unless `overwrite` allows it: then what a run writes is removed first, and nothing else. A run
  // that ended before its first step is replaced. Throws base::Error (kFailed).
  static RunFolder create(const std::filesystem::path& folder,
                          base::Overwrite overwrite = base::Overwrite::kRefuse);
  // An existing run that is to go on; removes temporary files of processes that were killed
  // (base/temporaries.h). Throws base::Error (kFailed) where there is none.
  static RunFolder resume(const std::filesystem::path& folder);
  // The names alone, for a process that helps the one that holds the lock: it may lie on another machine, and
  // nothing is made or written.
  static RunFolder of_another(const std::filesystem::path& folder);
  // Whether a training has begun there.
  static bool holds_run(const std::filesystem::path& folder);
  // Whether it has got as far as a logged step, a checkpoint or a model: something to lose.
  static bool holds_progress(const std::filesystem::path& folder);

  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path spec() const { return path_ / "experiment_spec.txt"; }
  std::filesystem::path status() const { return path_ / "status.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path events() const { return path_ / "events"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path best_model() const { return path_ / "best.safetensors"; }
  std::filesystem::path report() const { return path_ / "report.html"; }

 private:
  struct Lock;
  RunFolder(std::filesystem::path path, std::unique_ptr<Lock> lock);

  std::filesystem::path path_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace maskfit::runs
