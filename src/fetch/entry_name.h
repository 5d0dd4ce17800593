#pragma once

// Names inside archives, which come from strangers: other encodings, other separators, ways out of the
// folder.

#include <string>
#include <string_view>

namespace maskfit::fetch {

bool is_utf8(std::string_view text);

// UTF-8 of a name in an unknown encoding: as it is when it is UTF-8 already; else as GB18030, which Windows
// in China and the clients of its net disks write; else with every other byte as %XX.
std::string to_utf8(std::string_view name);

struct EntryName {
  std::string path;      // relative, "/" between parts, no ".", no control characters; UTF-8
  bool escapes = false;  // absolute, with a drive, or with "..": such an entry is not to be touched
};
EntryName entry_name(std::string_view as_written);

}  // namespace maskfit::fetch
