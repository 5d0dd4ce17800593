#include "base/background.h"

#include <utility>

namespace maskfit::base {

Background::Background() : thread_([this] { work(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void Background::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty() || stop_; });
    if (queue_.empty()) return;
    const std::function<void()> piece = std::move(queue_.front());
    lock.unlock();
    std::exception_ptr error;
    try {
      piece();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    queue_.pop_front();  // only now: drain() waits for it
    if (error && !error_) error_ = error;
    changed_.notify_all();
  }
}

void Background::wait_until_at_most(std::size_t pieces, std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this, pieces] { return queue_.size() <= pieces; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Background::submit(std::function<void()> work) {
  {
    std::unique_lock lock(mutex_);
    wait_until_at_most(kWaiting, lock);
    queue_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Background::drain() {
  std::unique_lock lock(mutex_);
  wait_until_at_most(0, lock);
}

}  // namespace maskfit::base
