#pragma once

// Progress of work on many files, on stderr: one line that rewrites itself on a terminal, a plain line now
// and then elsewhere, nothing for work that is done at once.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "cli/status_line.h"

namespace maskfit::cli {

class WorkProgress {
 public:
  // `what` as in "converting 310/853 pictures".
  WorkProgress(std::string verb, std::string what, std::FILE* stream = stderr);

  // Safe from several threads.
  void update(std::int64_t done, std::int64_t total);

 private:
  std::string verb_, what_;
  StatusLine line_;
  std::mutex mutex_;
  std::int64_t most_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

// "converting 310/853 pictures, 36 %, 0:12 left"; without the rest while nothing is done.
std::string work_line(const std::string& verb, const std::string& what, std::int64_t done, std::int64_t total,
                      double seconds);

}  // namespace maskfit::cli
