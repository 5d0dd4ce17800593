#pragma once

// The processes of one training, connected: sums over all of them, bytes from one to all and back, and the
// end of all when one of them ends.
//
// Rank 0 listens; every other rank calls it, and its neighbours in a ring. Sums go round the ring, so a rank
// sends and receives twice the array whatever the number of ranks, and every rank gets the same bits. Beside
// these connections each rank holds a lifeline to rank 0 on which nothing is said but "goodbye" and "I
// failed, because ...": a process that is killed closes it without a word, and all others know within
// milliseconds. docs/several-gpus.md says it in words for users.

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ranks/place.h"

namespace maskfit::ranks {

struct GroupOptions {
  // How long a rank waits for the others, at the start and in every call. A rank that hangs without dying
  // ends the others after it.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
};

// Every function is a meeting: all ranks call the same ones in the same order. Each throws base::Error
// (kFailed) when a rank has failed or ended, with that rank's number and its own words, or when it did not
// come in time. One thread calls them; they run on a thread of the group's own, in order.
class Group {
 public:
  // Returns when all ranks are there. Throws base::Error (kFailed).
  explicit Group(const Place& place, const GroupOptions& options = {});
  // Says goodbye, unless fail() was called: the others go on without.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const;
  int size() const;
  bool is_first() const { return rank() == 0; }
  const Place& place() const;

  // In place, over all ranks.
  void sum(std::span<float> values);
  void sum(std::span<double> values);
  // The same without waiting. `values` must live until the future is ready, which throws as above.
  std::future<void> sum_later(std::span<float> values);
  bool any(bool mine);
  // Rank 0's bytes, on all ranks.
  std::string broadcast(std::string from_first);
  // On rank 0 everybody's bytes, by rank; elsewhere nothing.
  std::vector<std::string> gather(std::string mine);

  // Tells all others why this rank ends; they throw. Does nothing after another rank has failed.
  void fail(const std::string& why) noexcept;
  // Throws if a rank has failed.
  void throw_if_failed() const;
  // Called once from another thread as soon as another rank has failed: for who waits for a device rather
  // than for the group. Nothing is called after the destructor or after a call with an empty function.
  void on_failure(std::function<void()> act);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::ranks
