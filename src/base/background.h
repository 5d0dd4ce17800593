#pragma once

// Work that nobody waits for, one piece after the other on a thread of its own: a training writes its
// checkpoints so.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace maskfit::base {

class Background {
 public:
  static constexpr std::size_t kWaiting = 3;

  Background();
  ~Background();  // finishes what was submitted; an exception of it is lost, so call drain() before
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Hands over a piece of work; waits while kWaiting pieces wait. Rethrows an exception of earlier work.
  void submit(std::function<void()> work);
  // Waits until all is done; rethrows its exception, once.
  void drain();

 private:
  void work();
  void wait_until_at_most(std::size_t pieces, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // the first one is being done
  std::exception_ptr error_;
  bool stop_ = false;
  std::jthread thread_;  // last: joined before anything that it uses goes
};

}  // namespace maskfit::base
