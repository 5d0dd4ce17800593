#include "spec/source.h"

#include <fmt/format.h>

#include <vector>

namespace maskfit::spec {

std::string field_path(std::string_view parent, std::string_view field) {
  return parent.empty() ? std::string(field) : fmt::format("{}.{}", parent, field);
}

std::string item_path(std::string_view field, int index) {
  return fmt::format("{}[{}]", field, index);
}

std::string entry_path(std::string_view field, std::string_view key) {
  return fmt::format("{}[{}]", field, key);
}

std::string parent_path(std::string_view path) {
  if (path.ends_with(']')) {
    const std::size_t open = path.rfind('[');
    return open == std::string_view::npos ? "" : std::string(path.substr(0, open));
  }
  // A key may hold a dot, a field name cannot: the last dot outside brackets.
  const std::size_t close = path.rfind(']');
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || (close != std::string_view::npos && dot < close)) return "";
  return std::string(path.substr(0, dot));
}

bool is_under(std::string_view path, std::string_view ancestor) {
  if (ancestor.empty() || path == ancestor) return true;
  return path.size() > ancestor.size() && path.starts_with(ancestor) &&
         (path[ancestor.size()] == '.' || path[ancestor.size()] == '[');
}

Place Source::at(std::string_view path) const {
  for (std::string around(path); !around.empty(); around = parent_path(around)) {
    if (const auto found = places_.find(around); found != places_.end()) return found->second;
  }
  return Place{file_, 0, 0};
}

void Source::erase_under(std::string_view path) {
  std::erase_if(places_, [&](const auto& entry) { return is_under(entry.first, path); });
}

void Source::rename_under(std::string_view from, std::string_view to) {
  std::vector<std::pair<std::string, Place>> moved;
  for (const auto& [path, place] : places_) {
    if (is_under(path, from)) moved.emplace_back(std::string(to) + path.substr(from.size()), place);
  }
  erase_under(from);
  for (auto& [path, place] : moved) places_[path] = std::move(place);
}

base::Finding Source::finding(base::Severity severity, const std::string& path, std::string what,
                              std::string remedy) const {
  Place place = at(path);
  base::Finding finding{severity, std::move(place.file), place.line,
                        path,     std::move(what),       std::move(remedy)};
  finding.column = place.column;
  return finding;
}

}  // namespace maskfit::spec
