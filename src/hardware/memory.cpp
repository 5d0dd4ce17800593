#include "hardware/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/cgroup.h"
#include "base/text.h"

namespace maskfit::hardware {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kKib = 1024;
constexpr std::int64_t kMib = 1024 * kKib;
constexpr std::int64_t kGib = 1024 * kMib;

}  // namespace

std::int64_t Memory::usable_bytes() const {
  return limit_bytes ? std::min(*limit_bytes, available_bytes) : available_bytes;
}

Memory parse_meminfo(const std::string& meminfo) {
  Memory memory;
  for (const std::string& line : base::split(meminfo, '\n')) {
    const auto words = base::split_words(line);  // "MemTotal:  24678400 kB"
    long long kib = 0;
    if (words.size() < 2 || !base::parse_int(words[1], &kib)) continue;
    if (words[0] == "MemTotal:") memory.total_bytes = kib * kKib;
    if (words[0] == "MemAvailable:") memory.available_bytes = kib * kKib;
  }
  return memory;
}

Memory inspect_memory() {
  std::ifstream file("/proc/meminfo");
  Memory memory = parse_meminfo({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  memory.limit_bytes = base::read_cgroup_limits().memory_bytes;
  return memory;
}

Disk inspect_disk(const fs::path& path) {
  std::error_code error;
  fs::path existing = fs::weakly_canonical(fs::absolute(path, error), error);
  while (!fs::exists(existing, error) && existing != existing.parent_path())
    existing = existing.parent_path();
  const fs::space_info space = fs::space(existing, error);
  if (error) return {existing, 0, 0};
  return {existing, static_cast<std::int64_t>(space.available), static_cast<std::int64_t>(space.capacity)};
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes >= kGib) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGib));
  if (bytes >= kMib) return fmt::format("{} MiB", bytes / kMib);
  return fmt::format("{} KiB", bytes / kKib);
}

}  // namespace maskfit::hardware
