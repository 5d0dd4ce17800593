#pragma once

// Files that are never half there: written to a temporary name beside the target, synced, renamed.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace maskfit::base {

enum class Overwrite { kRefuse, kAllow };

// Writes the whole file or nothing. Creates missing parent folders. Throws Error (kFailed) when the file
// exists and may not be overwritten (hint: --force), or with the system's reason (disk full, no permission).
void write_file(const std::filesystem::path& path, std::string_view bytes,
                Overwrite overwrite = Overwrite::kAllow);

// Reads the whole file. Throws Error naming the path, the longest prefix that exists and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Appends one line and flushes it. For logs that must survive a kill: at worst the last line is torn.
void append_line(const std::filesystem::path& path, std::string_view line);

// Lower-case hexadecimal SHA-256.
std::string sha256(std::string_view bytes);

}  // namespace maskfit::base
