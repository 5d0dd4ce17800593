#include "base/interrupt.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
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

// SIGPIPE comes for sockets, too; only a reader of what the program says is a reason to stop.
void on_broken_pipe(int) {
  const int error = errno;
  pollfd outputs[] = {{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  if (::poll(outputs, 2, 0) > 0 && ((outputs[0].revents | outputs[1].revents) & POLLERR) != 0) {
    interrupted.store(true, std::memory_order_relaxed);
  }
  errno = error;
}

enum class Again { kKills, kIsIgnored };

void install(int signal, Again again) {
  struct sigaction before = {};
  sigaction(signal, nullptr, &before);
  // Somebody wants the program to outlive this signal: nohup does so with SIGHUP.
  const bool hidden = signal == SIGHUP || signal == SIGPIPE;
  if (hidden && before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = signal == SIGPIPE ? on_broken_pipe : on_signal;
  // SA_RESETHAND: the second signal meets the default action. SA_RESTART: no read or write fails half-way.
  action.sa_flags = static_cast<int>(SA_RESTART | (again == Again::kKills ? SA_RESETHAND : 0));
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void StopToken::throw_if_requested() const {
  if (stop_requested()) throw Error(ExitCode::kInterrupted, "interrupted");
}

StopToken interrupt_token() {
  static const bool installed = [] {
    install(SIGINT, Again::kKills);
    install(SIGTERM, Again::kKills);
    // A terminal that closes sends SIGHUP from its shell and from the kernel, and every message to a reader
    // that has gone is another SIGPIPE: neither is somebody who has lost patience.
    install(SIGHUP, Again::kIsIgnored);
    install(SIGPIPE, Again::kIsIgnored);
    return true;
  }();
  (void)installed;
  return StopToken(&interrupted);
}

}  // namespace maskfit::base
