#include "cli/transfer_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/progress.h"
#include "fetch/disk.h"

namespace maskfit::cli {

std::string transfer_text(const fetch::Progress& p, double seconds) {
  const double fresh = static_cast<double>(p.done_bytes - std::min(p.done_bytes, p.begun_at));
  const double speed = seconds > 0 ? fresh / seconds : 0;
  std::string text = p.what;
  if (p.total_bytes > 0) {
    text += fmt::format("  {:3.0f} %  {} of {}",
                        100.0 * static_cast<double>(p.done_bytes) / static_cast<double>(p.total_bytes),
                        fetch::format_bytes(p.done_bytes), fetch::format_bytes(p.total_bytes));
  } else {
    text += "  " + fetch::format_bytes(p.done_bytes);
  }
  if (speed >= 1) {
    text += fmt::format("  {}/s", fetch::format_bytes(static_cast<std::uint64_t>(speed)));
    if (p.total_bytes > p.done_bytes) {
      text += "  ETA " + base::format_duration(static_cast<double>(p.total_bytes - p.done_bytes) / speed);
    }
  }
  return text;
}

void TransferProgress::show(const fetch::Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (progress.what != what_) {
    what_ = progress.what;
    begun_ = now;
    last_plain_ = now;
  }
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  if (line_.terminal()) {
    line_.show(transfer_text(progress, seconds).substr(0, 78));
  } else if (now - last_plain_ >= kPlainLineInterval) {
    last_plain_ = now;
    line_.show(transfer_text(progress, seconds));
  }
}

}  // namespace maskfit::cli
