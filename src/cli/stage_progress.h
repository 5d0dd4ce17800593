#pragma once

// How far a long command is, on stderr: a line that rewrites itself on a terminal, one now and then
// elsewhere.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "cli/status_line.h"

namespace maskfit::cli {

class StageProgress {
 public:
  explicit StageProgress(std::FILE* stream = stderr);

  // Not from two threads at a time. A new `stage` starts the clock anew.
  void show(const std::string& stage, std::int64_t done, std::int64_t total);
  // Leaves a clean line behind.
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  StatusLine line_;
  std::string stage_;
  Clock::time_point started_, last_;
};

// "reading pictures 320/1,402  23 %  ETA 0:04".
std::string stage_text(const std::string& stage, std::int64_t done, std::int64_t total, double seconds);

}  // namespace maskfit::cli
