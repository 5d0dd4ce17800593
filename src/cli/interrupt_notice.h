#pragma once

// A word to whoever pressed Ctrl-C while a long step runs to its end.

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/interrupt.h"

namespace maskfit::cli {

class InterruptNotice {
 public:
  // Once a stop is requested and this object lives on for `patience`, `say` is called with a sentence, from
  // another thread. The default says it to the log.
  explicit InterruptNotice(base::StopToken stop,
                           std::chrono::milliseconds patience = std::chrono::milliseconds(300),
                           std::function<void(const std::string&)> say = {});

 private:
  std::jthread watcher_;
};

}  // namespace maskfit::cli
