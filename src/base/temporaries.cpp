#include "base/temporaries.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/text.h"

namespace maskfit::base {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = ".tmp";

// The process in ".tmp123-4", or 0 for any other name.
long long writer_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return 0;
  const std::vector<std::string> numbers = split(std::string_view(name).substr(kPrefix.size()), '-');
  long long process = 0, count = 0;
  const bool ours =
      numbers.size() == 2 && parse_int(numbers[0], &process) && parse_int(numbers[1], &count) && process > 0;
  return ours ? process : 0;
}

bool is_alive(long long process) {
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

}  // namespace

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<std::uint64_t> count{0};
  return path.parent_path() / fmt::format("{}{}-{}", kPrefix, ::getpid(), count++);
}

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const long long writer = writer_of(entry->path().filename().string());
    if (writer != 0 && (writer == ::getpid() || !is_alive(writer))) fs::remove(entry->path(), ignored);
  }
}

}  // namespace maskfit::base
