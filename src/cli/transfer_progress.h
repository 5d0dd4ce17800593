#pragma once

// Bytes on their way, on stderr: a line that rewrites itself on a terminal, a plain one now and then
// elsewhere.

#include <chrono>
#include <cstdio>
#include <string>

#include "cli/status_line.h"
#include "fetch/progress.h"

namespace maskfit::cli {

// "WIDER_train.zip   35 %  480.0 MiB of 1.36 GiB  12.3 MiB/s  ETA 1:12"; without a total the share and the
// ETA are left out. `seconds` since the run began.
std::string transfer_text(const fetch::Progress& progress, double seconds);

class TransferProgress {
 public:
  TransferProgress(std::FILE* stream, bool terminal) : line_(stream, terminal) {}

  void show(const fetch::Progress& progress);
  void clear() { line_.clear(); }  // before anything else is printed
  fetch::ProgressSink sink() {
    return [this](const fetch::Progress& progress) { show(progress); };
  }

 private:
  StatusLine line_;
  std::string what_;
  std::chrono::steady_clock::time_point begun_{}, last_plain_{};
};

}  // namespace maskfit::cli
