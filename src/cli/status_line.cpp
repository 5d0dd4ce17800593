#include "cli/status_line.h"

#include <unistd.h>

namespace maskfit::cli {

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

void StatusLine::show(const std::string& text) {
  std::fprintf(stream_, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
  std::fflush(stream_);
  shown_ = terminal_;
}

void StatusLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace maskfit::cli
