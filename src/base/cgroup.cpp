#include "base/cgroup.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"

namespace maskfit::base {
namespace {
namespace fs = std::filesystem;

// The words of a control file; empty when there is none.
std::vector<std::string> words_of(const fs::path& path) {
  std::ifstream file(path);
  return split_words(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
}

std::optional<std::int64_t> positive(const std::vector<std::string>& words, std::size_t index) {
  long long value = 0;
  if (index >= words.size() || !parse_int(words[index], &value) || value <= 0) return std::nullopt;
  return value;
}

std::optional<double> ratio(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Version 1 says "no limit" with the largest multiple of a page.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  // Version 2: "max 100000" or "150000 100000" (quota and period in microseconds); "max" or bytes.
  const auto cpu = words_of(root / "cpu.max");
  limits.cores = ratio(positive(cpu, 0), positive(cpu, 1));
  limits.memory_bytes = positive(words_of(root / "memory.max"), 0);
  // Version 1: a quota of -1 is none.
  if (!limits.cores) {
    limits.cores = ratio(positive(words_of(root / "cpu/cpu.cfs_quota_us"), 0),
                         positive(words_of(root / "cpu/cpu.cfs_period_us"), 0));
  }
  if (!limits.memory_bytes)
    limits.memory_bytes = positive(words_of(root / "memory/memory.limit_in_bytes"), 0);
  if (limits.memory_bytes && *limits.memory_bytes >= kNoLimit) limits.memory_bytes.reset();
  return limits;
}

}  // namespace maskfit::base
