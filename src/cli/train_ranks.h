#pragma once

// `maskfit train` as several processes.

#include <memory>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "ranks/group.h"

namespace maskfit::cli {

struct RankOptions {
  std::optional<int> gpus, ranks;  // --gpus, --ranks
  std::string device;              // --device as given; "": not given
  double timeout_seconds = 600;    // --rank-timeout
};

// What this process has to do.
struct RankRole {
  bool launches = false;  // starts `ranks` others and waits for them
  int ranks = 1;
  std::unique_ptr<ranks::Group> group;  // of this process, when it is one of several
  std::string device = "cpu";           // to train on
};

// Who started this process, and what it is to be. Waits until all ranks are there. Throws base::Error
// (kUsage) for options that do not fit together.
RankRole take_role(const RankOptions& options);

// Starts the ranks with this process's own command line, into `run_folder`, where their logs are kept, and
// returns the exit code. Throws base::Error that names the rank which was killed.
int run_ranks(int ranks, const std::string& run_folder, bool folder_was_given, base::StopToken stop);

}  // namespace maskfit::cli
