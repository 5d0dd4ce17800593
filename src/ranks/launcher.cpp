#include "ranks/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "ranks/socket.h"

extern char** environ;

namespace maskfit::ranks {
namespace {

using base::Error;
using base::ExitCode;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{20};

[[noreturn]] void refuse(const char* what) {
  throw Error(ExitCode::kMachine, fmt::format("cannot start the ranks: {}: {}", what, std::strerror(errno)));
}

// A file without a name; the kernel forgets it with its last descriptor.
Socket unnamed_file() {
  Socket file(static_cast<int>(::memfd_create("maskfit rank", MFD_CLOEXEC)));
  if (!file.open()) refuse("memfd_create");
  return file;
}

std::string content(const Socket& file) {
  std::string text;
  char buffer[65536];
  off_t at = 0;
  for (ssize_t n = 0; (n = ::pread(file.fd(), buffer, sizeof(buffer), at)) > 0; at += n) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> list;
  for (std::string& line : lines) list.push_back(line.data());
  list.push_back(nullptr);
  return list;
}

// Between fork and exec: system calls and nothing else.
[[noreturn]] void become_rank(char** words, char** environment, int listener, int log, pid_t parent) {
  ::setpgid(0, 0);  // a terminal's Ctrl-C comes through the parent, once
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::kill(::getpid(), SIGKILL);
  if (listener >= 0) ::fcntl(listener, F_SETFD, 0);
  if (log >= 0) {
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  }
  ::execve("/proc/self/exe", words, environment);
  for (;;) ::kill(::getpid(), SIGKILL);  // the parent reports it
}

class Launch {
 public:
  explicit Launch(const LaunchRequest& request) : request_(request), words_(request.words) {
    const auto count = static_cast<std::size_t>(request.ranks);
    result_.ends.resize(count);
    logs_.resize(count);
    for (std::size_t r = 1; r < count; ++r) logs_[r] = unnamed_file();
  }
  ~Launch() {
    for (const pid_t child : children_) {
      if (child <= 0) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

  LaunchResult run() {
    start();
    while (running_ > 0) {
      look();
      end_the_rest();
      if (running_ > 0) std::this_thread::sleep_for(kBetweenLooks);
    }
    for (std::size_t r = 1; r < logs_.size(); ++r) result_.ends[r].log = content(logs_[r]);
    return std::move(result_);
  }

 private:
  void start() {
    const Socket listener = listen_on(0, 1, /*loopback=*/true);
    const pid_t self = ::getpid();
    for (int r = 0; r < request_.ranks; ++r) {
      std::vector<std::string> lines;
      for (char** line = environ; *line != nullptr; ++line) lines.push_back(*line);
      lines.push_back(fmt::format("MASKFIT_RANK={}", r));
      lines.push_back(fmt::format("MASKFIT_RANKS={}", request_.ranks));
      lines.push_back(fmt::format("MASKFIT_PORT={}", port_of(listener)));
      lines.push_back(fmt::format("MASKFIT_JOB={}.{}", self, port_of(listener)));
      if (r == 0) lines.push_back(fmt::format("MASKFIT_LISTENER={}", listener.fd()));
      const std::vector<char*> environment = pointers(lines), words = pointers(words_);
      const pid_t child = ::fork();
      if (child < 0) refuse("fork");
      if (child == 0) {
        become_rank(const_cast<char**>(words.data()), const_cast<char**>(environment.data()),
                    r == 0 ? listener.fd() : -1, logs_[static_cast<std::size_t>(r)].fd(), self);
      }
      children_.push_back(child);
      ++running_;
    }
  }

  void look() {
    for (std::size_t r = 0; r < children_.size(); ++r) {
      int status = 0;
      if (children_[r] <= 0 || ::waitpid(children_[r], &status, WNOHANG) != children_[r]) continue;
      children_[r] = -1;
      --running_;
      RankEnd& end = result_.ends[r];
      end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      note_failure(static_cast<int>(r));
    }
    if (request_.stop.stop_requested() && !stopped_) {
      tell(SIGINT);
      stopped_ = true;
    }
  }

  // One that was killed is the reason why others failed, whoever was seen first.
  void note_failure(int rank) {
    const RankEnd& end = result_.ends[static_cast<std::size_t>(rank)];
    if (end.code == 0 && end.signal == 0) return;
    const int before = result_.first_to_fail;
    // It does as it was told; rank 0 may save for a while yet.
    const bool obeys = stopped_ && end.code == static_cast<int>(ExitCode::kInterrupted);
    const bool killed = end.signal != 0 && signals_sent_ == 0;
    const bool before_killed = before >= 0 && result_.ends[static_cast<std::size_t>(before)].signal != 0;
    if (before < 0 || (killed && !before_killed)) result_.first_to_fail = rank;
    if (!obeys && patience_ends_ == Clock::time_point::max()) patience_ends_ = Clock::now() + request_.grace;
  }

  void end_the_rest() {
    if (Clock::now() < patience_ends_) return;
    tell(signals_sent_ == 0 ? SIGTERM : SIGKILL);
    ++signals_sent_;
    patience_ends_ = Clock::now() + request_.grace;
  }

  void tell(int signal) {
    for (const pid_t child : children_) {
      if (child > 0) ::kill(child, signal);
    }
  }

  const LaunchRequest& request_;
  std::vector<std::string> words_;
  LaunchResult result_;
  std::vector<Socket> logs_;
  std::vector<pid_t> children_;  // by rank; -1 once it has ended
  int running_ = 0, signals_sent_ = 0;
  bool stopped_ = false;
  Clock::time_point patience_ends_ = Clock::time_point::max();
};

}  // namespace

LaunchResult launch(const LaunchRequest& request) {
  try {
    return Launch(request).run();
  } catch (const SocketError& error) {
    throw Error(ExitCode::kMachine, fmt::format("cannot start the ranks: {}", error.what()));
  }
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size();) {
    words.emplace_back(all.c_str() + at);
    at += words.back().size() + 1;
  }
  return words;
}

}  // namespace maskfit::ranks
