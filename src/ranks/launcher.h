#pragma once

// Starts the ranks of this machine as processes of the same program, and sees to it that they end together.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/interrupt.h"

namespace maskfit::ranks {

struct LaunchRequest {
  int ranks = 1;
  std::vector<std::string> words;  // the command line of each, the program's own name first
  base::StopToken stop;            // passed on to the ranks as SIGINT, once
  // Of the time between the first rank's end with an error and SIGTERM for those that go on, and from there
  // to SIGKILL.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
};

// How one rank ended.
struct RankEnd {
  int code = 0;     // exit code
  int signal = 0;   // that ended it; 0: none
  std::string log;  // what it wrote on standard output and error; rank 0 writes to ours
};

struct LaunchResult {
  std::vector<RankEnd> ends;  // by rank
  int first_to_fail = -1;     // before which all were well; -1: none failed
};

// Runs the request's words with MASKFIT_RANK and its like in the environment (place.h) and waits for all. The
// ranks die with this process, too. Throws base::Error (kMachine) when they cannot be started.
LaunchResult launch(const LaunchRequest& request);

// The words that this program was started with.
std::vector<std::string> own_command_line();

}  // namespace maskfit::ranks
