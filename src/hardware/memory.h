#pragma once

// Memory and disk that this process can really use.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace maskfit::hardware {

struct Memory {
  std::int64_t total_bytes = 0;             // of the machine
  std::int64_t available_bytes = 0;         // without swapping, before the control group's limit
  std::optional<std::int64_t> limit_bytes;  // of the control group (a container), when it has one

  // What a program can count on.
  std::int64_t usable_bytes() const;
};

// `meminfo`: the text of /proc/meminfo. A missing line leaves its number 0.
Memory parse_meminfo(const std::string& meminfo);

Memory inspect_memory();

struct Disk {
  std::filesystem::path path;   // the longest part of the asked path that exists
  std::int64_t free_bytes = 0;  // for this user
  std::int64_t total_bytes = 0;
};

Disk inspect_disk(const std::filesystem::path& path);

// "23.4 GiB", "512 MiB".
std::string format_bytes(std::int64_t bytes);

}  // namespace maskfit::hardware
