#pragma once

// How long work tells where it is. Called from the thread that works, some times a second at the most.

#include <cstdint>
#include <functional>
#include <string>

namespace maskfit::fetch {

struct Progress {
  std::string what;               // "WIDER_train.zip"
  std::uint64_t done_bytes = 0;   // never more than total_bytes, where that is known
  std::uint64_t total_bytes = 0;  // 0: not known
  std::uint64_t begun_at = 0;     // bytes that were there before this run; the speed does not count them
};

using ProgressSink = std::function<void(const Progress&)>;
// One sentence about something that went wrong and was dealt with.
using NoticeSink = std::function<void(const std::string&)>;

}  // namespace maskfit::fetch
