#include "dataset/import_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "formats/fddb.h"
#include "formats/text_lines.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

std::string split_named(const fs::path& file) {
  const std::string stem = base::to_lower(file.stem().string());
  if (stem == "train") return "train";
  if (stem == "val" || stem == "valid" || stem == "validation") return "val";
  return stem == "test" ? "test" : "";
}

// The last part of a path of any system. A list of Pascal VOC for one class has 1, 0 or -1 behind each name.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  formats::TextLines lines(text);
  for (std::string_view line; lines.next(&line);) {
    std::string name = base::trim(line);
    const std::size_t blank = name.find_last_of(" \t");
    if (blank != std::string::npos) {
      const std::string mark = name.substr(blank + 1);
      if (mark == "1" || mark == "0" || mark == "-1") name = base::trim(name.substr(0, blank));
    }
    if (!name.empty()) names.insert(name.substr(name.find_last_of("/\\") + 1));
  }
  return names;
}

// Puts the listed pictures into the split ("": leaves them where they are); false when not half of the list's
// lines are pictures of the folder.
bool apply_split(const std::string& split, const std::set<std::string>& names, Source* source) {
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < source->files.size(); ++i) {
    const SurveyedFile& file = source->files[i];
    if (file.kind != FileKind::kPicture) continue;
    if (names.contains(file.path.filename().string()) || names.contains(file.path.stem().string()))
      listed.push_back(i);
  }
  if (listed.size() * 2 < names.size() || listed.empty()) return false;
  for (const std::size_t i : listed) {
    if (source->files[i].split.empty()) source->files[i].split = split;
  }
  return true;
}

void check_fddb_list(std::size_t file, const std::string& text, const std::set<std::string>& annotated,
                     Source* source) {
  source->helpers[file] = "list of FDDB's pictures";
  int line = 0;
  for (const std::string& path : formats::parse_fddb_paths(text)) {
    ++line;
    if (annotated.contains(path)) continue;
    source->findings.push_back({base::Severity::kWarning, source->name(file), line, "",
                                fmt::format("{} is in no ellipse list", path),
                                "fetch the ellipse lists anew"});
  }
}

}  // namespace

void read_lists(Source* source) {
  std::set<std::string> fddb;
  for (const auto& [file, index] : source->indices) {
    if (index.format != LabelFormat::kFddb) continue;
    for (const IndexEntry& entry : index.entries) fddb.insert(entry.picture);
  }
  for (std::size_t i = 0; i < source->files.size(); ++i) {
    const Content content = source->contents[i];
    const bool picture = source->files[i].kind == FileKind::kPicture;
    if (picture || (content != Content::kPathList && content != Content::kText)) continue;
    const std::string split = split_named(source->files[i].path);
    const bool fddb_list = content == Content::kPathList && !fddb.empty();
    const std::string text = base::read_file(source->folder / source->files[i].path);
    if ((!fddb_list || !split.empty()) && apply_split(split, names_in(text), source)) {
      source->helpers[i] = split.empty() ? "list of pictures" : fmt::format("{} pictures", split);
    } else if (fddb_list && fddb.contains(base::trim(text.substr(0, text.find('\n'))))) {
      check_fddb_list(i, text, fddb, source);
    }
  }
}

}  // namespace maskfit::dataset
