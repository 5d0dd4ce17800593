#pragma once

// Key files (GLib's .ini dialect, what DeepStream reads): [group] lines, key=value lines, '#' comment lines.
// A '#' after a value belongs to the value.

#include <string>
#include <string_view>
#include <vector>

namespace maskfit::formats {

struct KeyFileEntry {
  std::string key, value;
  int line = 0;  // 1-based
};

struct KeyFileGroup {
  std::string name;
  int line = 0;
  std::vector<KeyFileEntry> entries;

  const KeyFileEntry* find(std::string_view key) const;
};

struct KeyFile {
  std::vector<KeyFileGroup> groups;
  const KeyFileGroup* find(std::string_view group) const;
};

// Throws base::Error (kRefused) with file and line for a line that is none of the three, an entry before the
// first group, and a group or key that comes twice.
KeyFile parse_key_file(std::string_view text, const std::string& name_for_errors);
// Groups separated by an empty line.
std::string print_key_file(const KeyFile& file);

}  // namespace maskfit::formats
