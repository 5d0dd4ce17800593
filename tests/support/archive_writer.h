#pragma once

// Archives for tests, made by libarchive: of any format, with names and faults of choice.

#include <string>
#include <utility>
#include <vector>

namespace maskfit::support {

struct ArchiveMember {
  std::string name, content;
  std::string link_to;  // not empty: a symbolic link
};

// `format` as libarchive calls it ("zip", "7zip", "gnutar", "pax"), `filter` "none", "gzip", "xz", "zstd";
// `password`: a zip encrypted with it (AES-256). Throws std::runtime_error.
std::string make_archive(const std::vector<ArchiveMember>& members, const std::string& format,
                         const std::string& filter = "none", const std::string& password = "");

}  // namespace maskfit::support
