#pragma once

// A training's progress on stderr: a bar that rewrites itself on a terminal, a plain line now and then
// elsewhere.

#include <chrono>
#include <cstdio>
#include <string>

#include "cli/status_line.h"
#include "train/observer.h"

namespace maskfit::cli {

// How often something is written where there is no terminal.
inline constexpr std::chrono::seconds kPlainLineInterval{5};

class TrainingProgress : public train::Observer {
 public:
  // `terminal`: whether `stream` is one; see is_terminal().
  TrainingProgress(std::FILE* stream, bool terminal) : bar_(stream, terminal) {}

  void on_progress(const train::StepReport& report) override;
  void on_epoch(const train::EpochReport& report) override;
  void on_validation(const train::ValidationReport& report) override;
  void on_notice(train::Notice notice, const std::string& sentence) override;

 private:
  void line(const std::string& text);

  StatusLine bar_;
  std::chrono::steady_clock::time_point last_plain_{};
};

// "epoch 3/120 [=====>    ] 23/47  loss 0.0123  mask cov 0.0051 bbox 0.0020  lr 5.0e-04  812 img/s  ETA
// 0:12:03", cut to `columns` characters (0: not cut).
std::string bar_text(const train::StepReport& report, int columns);
// The table of a validation: AP per class and the means, one line each.
std::string validation_text(const train::ValidationReport& report);

}  // namespace maskfit::cli
