#pragma once

// Who is still there: one quiet connection between rank 0 and each other rank, watched by a thread.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ranks/socket.h"

namespace maskfit::ranks {

class Lifelines {
 public:
  // peers[i] leads to rank ranks[i]. on_failure is called at most once, from the watching thread.
  Lifelines(int own_rank, std::vector<int> ranks, std::vector<Socket> peers,
            std::function<void()> on_failure);
  // Says goodbye where nobody has failed.
  ~Lifelines();

  // Tells the others; does nothing once somebody has failed.
  void fail(const std::string& why) noexcept;
  // Why the training ends, in a sentence that names the rank; nothing while all are well. Waits up to
  // `patience` for news.
  std::optional<std::string> failure(std::chrono::milliseconds patience = {}) const;

 private:
  void watch();
  // False when the peer's line is at its end.
  bool listen(std::size_t peer);
  // The first failure is kept and passed on to all but `from`.
  void note(const std::string& why, int from, bool own);
  void tell_others(char kind, const std::string& text, int but) noexcept;

  const int own_rank_;
  const std::vector<int> ranks_;
  const std::vector<Socket> peers_;
  const std::function<void()> on_failure_;
  std::vector<bool> at_end_;
  Socket wake_reader_, wake_writer_;
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  std::optional<std::string> failure_;
  std::thread watcher_;
};

}  // namespace maskfit::ranks
