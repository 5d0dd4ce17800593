#pragma once

// The limits that a container or a service manager puts on this process (Linux control groups, version 2,
// then 1). In a container they are what the machine really is; the kernel's own totals show the host.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace maskfit::base {

struct CgroupLimits {
  std::optional<double> cores;               // processor time a second, e.g. 1.5
  std::optional<std::int64_t> memory_bytes;  // at most
};

// `root` is /sys/fs/cgroup, where a container sees its own group. Missing or unlimited: empty.
CgroupLimits read_cgroup_limits(const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace maskfit::base
