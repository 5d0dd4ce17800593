#include "cli/stage_progress.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/progress.h"
#include "report/html.h"

namespace maskfit::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalInterval = 100ms;

}  // namespace

StageProgress::StageProgress(std::FILE* stream) : line_(stream, is_terminal(stream)) {}

void StageProgress::show(const std::string& stage, std::int64_t done, std::int64_t total) {
  const auto now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    started_ = last_ = now;
    if (!line_.terminal()) return;
  } else if (now - last_ <
             (line_.terminal() ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainLineInterval))) {
    return;
  }
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  line_.show(stage_text(stage, done, total, seconds));
}

std::string stage_text(const std::string& stage, std::int64_t done, std::int64_t total, double seconds) {
  std::string text = fmt::format("{} {}/{}", stage, report::grouped(done), report::grouped(total));
  if (total > 0) text += fmt::format("  {} %", 100 * done / total);
  if (done > 0 && done < total) {
    const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
    text += "  ETA " + base::format_duration(left);
  }
  return text;
}

}  // namespace maskfit::cli
