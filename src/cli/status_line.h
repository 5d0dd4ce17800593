#pragma once

// The line that tells how far a command is: on a terminal one that rewrites itself, elsewhere one after the
// other. How often to write is the caller's to say.

#include <cstdio>
#include <string>

namespace maskfit::cli {

bool is_terminal(std::FILE* stream);

class StatusLine {
 public:
  // `terminal`: whether `stream` is one.
  StatusLine(std::FILE* stream, bool terminal) : stream_(stream), terminal_(terminal) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool terminal() const { return terminal_; }
  std::FILE* stream() const { return stream_; }
  void show(const std::string& text);
  // Takes what stands on a terminal away, before anything else is printed.
  void clear();

 private:
  std::FILE* stream_;
  bool terminal_, shown_ = false;
};

}  // namespace maskfit::cli
