#include "base/interrupt.h"

#include <csignal>

#include "base/error.h"

namespace maskfit::base {
namespace {

// A handler may touch nothing but lock-free atomics, so the flag has to be global; only its token leaves this
// file.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  interrupted.store(true, std::memory_order_relaxed);
}

void install(int signal) {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  // SA_RESETHAND: the second signal meets the default action. SA_RESTART: no read or write fails half-way.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void StopToken::throw_if_requested() const {
  if (stop_requested()) throw Error(ExitCode::kInterrupted, "interrupted");
}

StopToken interrupt_token() {
  static const bool installed = [] {
    install(SIGINT);
    install(SIGTERM);
    return true;
  }();
  (void)installed;
  return StopToken(&interrupted);
}

}  // namespace maskfit::base
