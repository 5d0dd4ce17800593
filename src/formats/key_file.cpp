#include "formats/key_file.h"

#include "base/error.h"
#include "base/text.h"

namespace maskfit::formats {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& file, int line,
                         const std::string& hint) {
  throw base::Error(base::ExitCode::kRefused, what, fmt::format("{}:{}", file, line), hint);
}

void open_group(const std::string& line, const std::string& file, int number, KeyFile* result) {
  if (!line.ends_with(']') || line.size() < 3)
    refuse(fmt::format("'{}' is no group", line), file, number, "write [name]");
  const std::string name = line.substr(1, line.size() - 2);
  if (result->find(name) != nullptr) {
    refuse(fmt::format("the group [{}] comes twice", name), file, number, "merge the two groups");
  }
  result->groups.push_back({name, number, {}});
}

void add_entry(const std::string& line, const std::string& file, int number, KeyFile* result) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse(fmt::format("'{}' is neither a group nor key=value", line), file, number, "comments begin with #");
  }
  if (result->groups.empty())
    refuse("an entry before the first group", file, number, "begin with a line like [property]");
  const std::string key = base::trim(line.substr(0, equals));
  KeyFileGroup& group = result->groups.back();
  if (group.find(key) != nullptr) {
    refuse(fmt::format("the key '{}' comes twice in [{}]", key, group.name), file, number,
           "keep one of them");
  }
  group.entries.push_back({key, base::trim(line.substr(equals + 1)), number});
}

}  // namespace

const KeyFileEntry* KeyFileGroup::find(std::string_view key) const {
  for (const KeyFileEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

const KeyFileGroup* KeyFile::find(std::string_view group) const {
  for (const KeyFileGroup& candidate : groups) {
    if (candidate.name == group) return &candidate;
  }
  return nullptr;
}

KeyFile parse_key_file(std::string_view text, const std::string& name_for_errors) {
  KeyFile result;
  int number = 0;
  for (const std::string& raw : base::split(text, '\n')) {
    ++number;
    const std::string line = base::trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      open_group(line, name_for_errors, number, &result);
    } else {
      add_entry(line, name_for_errors, number, &result);
    }
  }
  return result;
}

std::string print_key_file(const KeyFile& file) {
  std::string text;
  for (const KeyFileGroup& group : file.groups) {
    if (!text.empty()) text += '\n';
    text += fmt::format("[{}]\n", group.name);
    for (const KeyFileEntry& entry : group.entries) text += fmt::format("{}={}\n", entry.key, entry.value);
  }
  return text;
}

}  // namespace maskfit::formats
