#pragma once

// Where the time of a run goes, by name: "reading the pictures 0.8 s, steps 55.1 s, validation 1.2 s".

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace maskfit::train {

// The time of one thread: spans must not overlap. Names keep the order of their first use.
class TimeSpent {
 public:
  using Clock = std::chrono::steady_clock;

  // Ends the span that is open and begins another; "" only ends.
  void begin(const std::string& what);
  void end() { begin(""); }

  double seconds(const std::string& what) const;  // of finished spans; 0 for an unknown name
  // Spans shorter than a hundredth of a second are left out.
  std::string sentence() const;

 private:
  std::vector<std::pair<std::string, double>> spent_;
  std::string open_;
  Clock::time_point since_;
};

// A span inside another one, which goes on afterwards.
class Span {
 public:
  Span(TimeSpent& spent, const std::string& what, std::string then) : spent_(spent), then_(std::move(then)) {
    spent_.begin(what);
  }
  ~Span() { spent_.begin(then_); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  TimeSpent& spent_;
  std::string then_;
};

}  // namespace maskfit::train
