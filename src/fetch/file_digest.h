#pragma once

// Digests of files too large to hold in memory.

#include <filesystem>
#include <functional>
#include <string>

#include "base/interrupt.h"

namespace maskfit::fetch {

// A digest that somebody published. maskfit makes SHA-256 only; the older ones serve to compare with old
// publications.
struct Digest {
  std::string algorithm;  // "sha256", "sha1" or "md5"
  std::string hex;        // lower case
};

// Lower-case hexadecimal. Throws base::Error when the file cannot be read.
std::string file_digest(const std::filesystem::path& path, const std::string& algorithm,
                        base::StopToken stop = {});

// "SHA256:AB12..", "md5:..", or 64, 40 or 32 hexadecimal digits alone. Throws Error (kUsage).
Digest parse_digest(const std::string& text);

}  // namespace maskfit::fetch
