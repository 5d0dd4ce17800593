#pragma once

// Ctrl-C as a question that long work asks between two steps, so that it can save and leave in order.

#include <atomic>

namespace maskfit::base {

// Cheap to copy and to ask. Long functions take one by value; a default token never stops anything.
class StopToken {
 public:
  StopToken() = default;
  // `flag` must outlive the token; set it from any thread or signal handler.
  explicit StopToken(const std::atomic<bool>* flag) : flag_(flag) {}

  bool stop_requested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  // Throws Error(kInterrupted), which cli/app.cpp turns into exit code 130.
  void throw_if_requested() const;

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

// The token of SIGINT, SIGTERM, SIGHUP and SIGPIPE (the last two unless the caller ignores them). The first
// call installs the handlers; a command that never calls it keeps the default (die at once). The first signal
// sets the flag; the second SIGINT or SIGTERM kills, so that a step that hangs can still be ended.
StopToken interrupt_token();

}  // namespace maskfit::base
