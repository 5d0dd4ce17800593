#include "cli/interrupt_notice.h"

#include <spdlog/spdlog.h>

namespace maskfit::cli {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSentence = "finishing this step, then saving; Ctrl-C again leaves at once";

// A signal handler may wake nobody, so the flag is looked at now and then.
constexpr auto kLookEvery = 50ms;

}  // namespace

InterruptNotice::InterruptNotice(base::StopToken stop, std::chrono::milliseconds patience,
                                 std::function<void(const std::string&)> say) {
  if (!say) say = [](const std::string& sentence) { spdlog::warn("{}", sentence); };
  watcher_ = std::jthread([stop, patience, say](const std::stop_token& over) {
    auto waited = 0ms;
    for (; !over.stop_requested() && waited < patience; std::this_thread::sleep_for(kLookEvery)) {
      if (stop.stop_requested()) waited += kLookEvery;
    }
    if (!over.stop_requested()) say(kSentence);
  });
}

}  // namespace maskfit::cli
