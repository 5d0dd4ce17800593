#pragma once

// Room on a disk, asked before anything is written.

#include <cstdint>
#include <filesystem>
#include <string>

namespace maskfit::fetch {

// What an ordinary user may still write where `path` lies, or would lie: the nearest folder that exists
// decides.
std::uint64_t free_bytes(const std::filesystem::path& path);

// Throws Error (kMachine) when fewer than `bytes` + `spare` are free; `what` begins the sentence.
void require_free(const std::filesystem::path& path, std::uint64_t bytes, std::uint64_t spare,
                  const std::string& what);

// "1.4 GiB", "12.0 MiB", "17 bytes".
std::string format_bytes(std::uint64_t bytes);

// The nearest ancestor of `path`, or itself, that exists.
std::filesystem::path existing_ancestor(const std::filesystem::path& path);

}  // namespace maskfit::fetch
