#pragma once

// The binary under test.

#include <string>
#include <vector>

#include "tests/support/process.h"

namespace maskfit::support {

// Runs `maskfit WORDS...` and waits for it.
inline Outcome maskfit(std::vector<std::string> words) {
  words.insert(words.begin(), MASKFIT_BINARY);
  return run_process(words);
}

}  // namespace maskfit::support
