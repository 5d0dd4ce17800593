#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace maskfit::support {

struct Outcome {
  int status = 0;   // exit code; 128 + number when a signal ended it
  std::string out;  // stdout
  std::string err;  // stderr
};

// Runs a program (looked up on the PATH) with its words as they are, no shell, and waits for it.
// `environment` holds "NAME=value" lines that are added to ours. Throws std::runtime_error when it cannot be
// started.
Outcome run_process(const std::vector<std::string>& words, const std::vector<std::string>& environment = {});

// Starts a program (looked up on the PATH) and does not wait for it. Its stdout is thrown away, its stderr
// goes into a new file. Throws std::runtime_error when it cannot be started.
pid_t start_process(const std::vector<std::string>& words, const std::filesystem::path& err = "/dev/null");

// Whether the PATH has such a program.
bool have_program(const std::string& name);

}  // namespace maskfit::support
