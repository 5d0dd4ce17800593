#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace maskfit::architecture {
namespace fs = std::filesystem;
namespace {

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> endings = {".h", ".cpp", ".cu", ".cuh", ".proto"};
  return endings.count(path.extension().string()) > 0;
}

// Where a raw string that begins at `at` (R"delimiter( ... )delimiter") ends, one past its last quote.
std::size_t raw_string_end(const std::string& text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string::npos) return text.size();
  const std::string close = ")" + text.substr(at + 2, open - at - 2) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string::npos ? text.size() : end + close.size();
}

// Where a quoted string or character that begins at `at` ends, one past its last quote.
std::size_t quoted_end(const std::string& text, std::size_t at) {
  const char quote = text[at];
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// One past the end of the comment, string or character at `at`; `at` when there is none.
std::size_t blank_end(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") == 0) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string::npos ? text.size() : end + 2;
  }
  const bool starts_word = at == 0 || !is_word(text[at - 1]);
  if (starts_word && text.compare(at, 2, "R\"") == 0) return raw_string_end(text, at);
  if (text[at] == '"') return quoted_end(text, at);
  // 1'000'000 is a number.
  if (text[at] == '\'' && starts_word) return quoted_end(text, at);
  return at;
}

}  // namespace

std::string SourceFile::ending() const {
  return fs::path(path).extension().string();
}

std::string SourceFile::folder() const {
  if (!path.starts_with("src/")) return "";
  const std::size_t slash = path.find('/', 4);
  return slash == std::string::npos ? "" : path.substr(4, slash - 4);
}

std::string SourceFile::include_name() const {
  return path.starts_with("src/") ? path.substr(4) : path;
}

bool SourceFile::is_test() const {
  return path.starts_with("tests/") || path.ends_with("_test.cpp") || path.ends_with("_bench.cpp");
}

int SourceFile::lines() const {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<Include> SourceFile::includes() const {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.find("include") == std::string::npos) continue;
    if (std::smatch match; std::regex_search(line, match, pattern)) {
      found.push_back({match[2], match[1] == "\"", number});
    }
  }
  return found;
}

const SourceFile* SourceTree::find_include(const std::string& name) const {
  for (const std::string& path : {"src/" + name, name}) {
    const auto at = std::lower_bound(
        files.begin(), files.end(), path,
        [](const SourceFile& file, const std::string& wanted) { return file.path < wanted; });
    if (at != files.end() && at->path == path) return &*at;
  }
  return nullptr;
}

SourceTree read_source_tree(const fs::path& root) {
  SourceTree tree;
  for (const char* top : {"src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      tree.files.push_back({fs::relative(entry.path(), root).generic_string(), read(entry.path())});
    }
  }
  std::sort(tree.files.begin(), tree.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return tree;
}

std::string without_comments_and_strings(const std::string& text) {
  std::string code = text;
  for (std::size_t i = 0; i < code.size();) {
    const std::size_t end = blank_end(text, i);
    if (end == i) {
      ++i;
      continue;
    }
    for (; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  }
  return code;
}

}  // namespace maskfit::architecture
