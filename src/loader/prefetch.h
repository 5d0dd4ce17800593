#pragma once

// Work ahead: items 0, 1, 2, ... are made by several threads and handed out in order. What an item is depends
// on its number alone, so the result does not depend on how many threads there are or which of them is quick.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace maskfit::loader {

template <typename Item>
class Prefetch {
 public:
  // make(i) is called once for every i in [first, last), from `threads` threads at a time. At most `ahead`
  // items are finished or in the making. REQUIRES threads >= 1 and ahead >= 1; make must outlive this object.
  Prefetch(std::int64_t first, std::int64_t last, int threads, int ahead,
           std::function<Item(std::int64_t)> make)
      : make_(std::move(make)), next_out_(first), next_in_(first), last_(last), ahead_(ahead) {
    MASKFIT_CHECK(threads >= 1 && ahead >= 1 && first <= last, "threads={} ahead={} first={} last={}",
                  threads, ahead, first, last);
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }

  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      next_in_ = last_;
      stopped_ = true;
    }
    room_.notify_all();
  }  // the threads join when threads_ goes, the first member to do so
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  bool done() const { return next_out_ == last_; }

  // The next item in order; waits for it. An exception of make is rethrown here, at its own item. REQUIRES
  // !done().
  Item next() {
    MASKFIT_CHECK(!done(), "next_out={} last={}", next_out_, last_);
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return finished_.contains(next_out_); });
    Slot slot = std::move(finished_.extract(next_out_).mapped());
    ++next_out_;
    lock.unlock();
    room_.notify_all();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(*slot.item);
  }

 private:
  struct Slot {
    std::unique_ptr<Item> item;
    std::exception_ptr error;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [&] { return stopped_ || next_in_ == last_ || next_in_ < next_out_ + ahead_; });
      if (stopped_ || next_in_ == last_) return;
      const std::int64_t number = next_in_++;
      lock.unlock();
      Slot slot;
      try {
        slot.item = std::make_unique<Item>(make_(number));
      } catch (...) {
        slot.error = std::current_exception();
      }
      lock.lock();
      finished_.emplace(number, std::move(slot));
      ready_.notify_all();
    }
  }

  std::function<Item(std::int64_t)> make_;
  std::mutex mutex_;
  std::condition_variable ready_, room_;
  std::map<std::int64_t, Slot> finished_;
  std::int64_t next_out_, next_in_, last_;
  int ahead_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;  // last: joined before anything they use goes
};

}  // namespace maskfit::loader
