#pragma once

// Where in a spec file each field was set, so that a later check can name file, line and column.
//
// A field is named by its path from the root message: "training_config.num_epochs",
// "cost_function_config.target_classes[0].class_weight" (place in a repeated field),
// "bbox_rasterizer_config.target_class_config[mask].cov_radius_x" (key of a map).

#include <map>
#include <string>
#include <string_view>

#include "base/finding.h"

namespace maskfit::spec {

struct Place {
  std::string file;  // as given by the user; "--set a.b=c" for a value from the command line
  int line = 0;      // 1-based; 0 when the place is no line of a file
  int column = 0;    // 1-based, in characters, a tab being one; 0 as above
};

std::string field_path(std::string_view parent, std::string_view field);
std::string item_path(std::string_view field, int index);
std::string entry_path(std::string_view field, std::string_view key);

// The path one step up: "a.b[x]" -> "a.b" -> "a" -> "".
std::string parent_path(std::string_view path);
// True for `path` itself and everything under it.
bool is_under(std::string_view path, std::string_view ancestor);

class Source {
 public:
  Source() = default;
  // `file` is where a finding about the whole file points to.
  explicit Source(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }

  void set(const std::string& path, Place place) { places_[path] = std::move(place); }
  // True when the path itself was set in the text.
  bool has(const std::string& path) const { return places_.contains(path); }
  // The place of the path, or of the nearest section around it that has one, or the file.
  Place at(std::string_view path) const;
  // Forgets `path` and everything under it.
  void erase_under(std::string_view path);
  // Moves everything under `from` to the same place under `to`.
  void rename_under(std::string_view from, std::string_view to);

  // A finding about a field, with its place.
  base::Finding finding(base::Severity severity, const std::string& path, std::string what,
                        std::string remedy = "") const;

 private:
  std::string file_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace maskfit::spec
