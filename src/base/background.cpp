#include "base/background.h"

#include <chrono>
#include <exception>
#include <utility>

namespace maskfit::base {

Worker::Worker() : thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
}

std::future<void> Worker::add(std::function<void()> piece) {
  std::packaged_task<void()> task(std::move(piece));
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  return done;
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::packaged_task<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void Background::settle(std::size_t pieces) {
  const auto done = [](const std::future<void>& piece) {
    return piece.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  std::exception_ptr first;
  while (!begun_.empty() && (begun_.size() > pieces || done(begun_.front()))) {
    try {
      begun_.front().get();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
    begun_.pop_front();
  }
  if (first) std::rethrow_exception(first);
}

void Background::submit(std::function<void()> piece) {
  settle(kWaiting);
  begun_.push_back(worker_.add(std::move(piece)));
}

void Background::drain() {
  settle(0);
}

}  // namespace maskfit::base
