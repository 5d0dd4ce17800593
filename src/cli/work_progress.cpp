#include "cli/work_progress.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/progress.h"

namespace maskfit::cli {
namespace {
constexpr std::chrono::milliseconds kRewrite{200};
}  // namespace

std::string work_line(const std::string& verb, const std::string& what, std::int64_t done, std::int64_t total,
                      double seconds) {
  std::string line = fmt::format("{} {}/{} {}", verb, done, total, what);
  if (done <= 0 || total <= 0) return line;
  const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
  return line + fmt::format(", {} %, {} left", 100 * done / total, base::format_duration(left));
}

WorkProgress::WorkProgress(std::string verb, std::string what, std::FILE* stream)
    : verb_(std::move(verb)), what_(std::move(what)), line_(stream, is_terminal(stream)) {}

void WorkProgress::update(std::int64_t done, std::int64_t total) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  // Threads report in any order.
  if (done <= most_ ||
      now - last_ < (line_.terminal() ? kRewrite : std::chrono::milliseconds(kPlainLineInterval)))
    return;
  most_ = done;
  last_ = now;
  line_.show(work_line(verb_, what_, done, total, std::chrono::duration<double>(now - start_).count()));
}

}  // namespace maskfit::cli
