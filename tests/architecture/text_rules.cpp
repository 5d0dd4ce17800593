#include "tests/architecture/text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "base/text.h"

namespace maskfit::architecture {
namespace fs = std::filesystem;
namespace {

struct BannedWord {
  std::regex pattern;
  const char* why;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_build_file(const fs::path& path) {
  return path.filename() == "CMakeLists.txt" || path.filename() == "CMakePresets.json" ||
         path.extension() == ".cmake" || path.filename() == "dev" || path.generic_string() == ".ci/run";
}

Violations find_words(const std::string& path, const std::string& text,
                      const std::vector<BannedWord>& words) {
  Violations violations;
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    for (const BannedWord& word : words) {
      std::smatch match;
      if (std::regex_search(line, match, word.pattern)) {
        violations.push_back(fmt::format("{}:{}: {}: {}", path, number, match.str(), word.why));
      }
    }
  }
  return violations;
}

void append(Violations& to, const Violations& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::string without_hash_comments(const std::string& text) {
  static const std::regex comment("#[^\n]*");
  return std::regex_replace(text, comment, "");
}

}  // namespace

TextFiles read_build_files(const fs::path& root) {
  TextFiles files;
  for (const char* top : {"", "cmake", "tests", ".ci", "src"}) {
    const fs::path folder = root / top;
    if (!fs::exists(folder)) continue;
    // The root itself holds build trees; only its own files count.
    for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
      if (*top == '\0') at.disable_recursion_pending();
      const fs::path name = fs::relative(at->path(), root);
      if (at->is_regular_file() && is_build_file(name)) files[name.generic_string()] = read(at->path());
    }
  }
  return files;
}

Violations check_build_flags(const TextFiles& build_files) {
  static const std::vector<BannedWord> words = {
      {std::regex(R"(-march=[\w-]+)"), "the product runs on any x86-64; choose faster code at run time"},
      {std::regex(R"(-mtune=native)"), "a build must not depend on the machine that makes it"},
      {std::regex(R"(-m(avx|fma|sse3|ssse3|sse4|bmi|f16c)[\w.]*)"),
       "the product runs on any x86-64; choose faster code at run time"},
      {std::regex(R"(-f(fast-math|associative-math|unsafe-math-optimizations)|-Ofast)"),
       "results must not depend on the optimiser"},
  };
  Violations violations;
  for (const auto& [path, text] : build_files)
    append(violations, find_words(path, without_hash_comments(text), words));
  return violations;
}

Violations check_manners(const SourceTree& tree) {
  static const std::vector<BannedWord> in_code = {
      {std::regex(R"(\bassert\s*\()"), "gone in a release build; use MASKFIT_CHECK, or base::Error for data"},
  };
  static const std::vector<BannedWord> in_libraries = {
      {std::regex(R"(\bstd::(cout|cerr|clog)\b|\b(printf|puts|putchar)\s*\(|\bfmt::print\b)"),
       "libraries never print"},
      {std::regex(R"(\b(std::)?(exit|_exit|quick_exit|abort|terminate)\s*\()"),
       "libraries never exit; throw base::Error"},
  };
  static const std::vector<BannedWord> in_text = {
      {std::regex(R"(\b(TODO|FIXME|XXX|HACK)\b)"), "finish it, or leave it out"},
  };
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (file.path.starts_with("tests/architecture/")) continue;  // names all of these
    append(violations, find_words(file.path, file.text, in_text));
    if (file.ending() == ".proto") continue;
    const std::string code = without_comments_and_strings(file.text);
    append(violations, find_words(file.path, code, in_code));
    if (!file.is_test() && file.folder() != "cli")
      append(violations, find_words(file.path, code, in_libraries));
    if (file.is_header() && file.text.find("#pragma once") == std::string::npos) {
      violations.push_back(fmt::format("{}: no #pragma once", file.path));
    }
  }
  return violations;
}

std::vector<std::string> table_column(const std::string& markdown, const std::string& heading) {
  std::vector<std::string> column;
  bool inside = false;
  for (const std::string& line : base::split(markdown, '\n')) {
    if (!line.starts_with("|")) {
      if (inside) break;
      continue;
    }
    std::string cell = base::trim(base::split(line, '|')[1]);
    cell.erase(std::remove(cell.begin(), cell.end(), '`'), cell.end());
    if (inside && cell.find_first_not_of(":- ") != std::string::npos) column.push_back(cell);
    if (cell == heading) inside = true;
  }
  return column;
}

Violations check_same_list(const std::string& what, const std::vector<std::string>& wanted,
                           const std::vector<std::string>& found) {
  const auto [w, f] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
  if (w == wanted.end() && f == found.end()) return {};
  const std::string expected = w == wanted.end() ? "nothing more" : "'" + *w + "'";
  const std::string got = f == found.end() ? "nothing more" : "'" + *f + "'";
  return {fmt::format("{}: entry {} should be {} and is {}", what, w - wanted.begin() + 1, expected, got)};
}

Violations check_named_files(const std::string& document, const std::string& markdown, const fs::path& root) {
  static const std::regex name(R"(`([\w.-]+(?:/[\w.-]+)+\.(?:h|cpp|cu|cuh|proto|md|txt|cmake|awk|py))`)");
  Violations violations;
  for (std::sregex_iterator at(markdown.begin(), markdown.end(), name), end; at != end; ++at) {
    const std::string path = (*at)[1];
    if (!fs::exists(root / path) && !fs::exists(root / "src" / path)) {
      violations.push_back(fmt::format("{} names {}, which does not exist", document, path));
    }
  }
  return violations;
}

std::vector<std::string> code_blocks(const std::string& markdown) {
  static const std::regex comment(R"(\s*#.*)");
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : base::split(markdown, '\n')) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += std::regex_replace(line, comment, "") + "\n";
    }
  }
  return blocks;
}

}  // namespace maskfit::architecture
