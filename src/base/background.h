#pragma once

// Work on a thread of its own, one piece after the other.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace maskfit::base {

class Worker {
 public:
  Worker();
  ~Worker();  // finishes what was added
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The future has the exception of the piece, if it throws one.
  std::future<void> add(std::function<void()> piece);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool over_ = false;
  std::jthread thread_;  // last: joined before anything that it uses goes
};

// Work that nobody waits for: a training writes its checkpoints so. One thread calls it.
class Background {
 public:
  static constexpr std::size_t kWaiting = 3;

  // Hands over a piece of work; waits while kWaiting pieces wait. Rethrows an exception of earlier work. One
  // of work that is left when this goes is lost, so call drain() before.
  void submit(std::function<void()> piece);
  // Waits until all is done; rethrows its first exception, once.
  void drain();

 private:
  // Takes leave of what is done, and waits until at most `pieces` are left.
  void settle(std::size_t pieces);

  std::deque<std::future<void>> begun_;
  Worker worker_;
};

}  // namespace maskfit::base
