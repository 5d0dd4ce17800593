#pragma once

// The sources as the rules see them: plain text in memory, so that the tests of the rules can write bad
// trees.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace maskfit::architecture {

struct Include {
  std::string target;   // "loader/batch.h", "ATen/ATen.h"
  bool quoted = false;  // "..." rather than <...>
  int line = 0;
};

struct SourceFile {
  std::string path;  // from the root: "src/loader/batch.h"
  std::string text;

  std::string ending() const;        // ".h"
  std::string folder() const;        // "loader" for a file of src/, otherwise ""
  std::string include_name() const;  // "loader/batch.h" for a file of src/, otherwise the path
  bool is_header() const { return ending() == ".h" || ending() == ".cuh"; }
  bool is_cuda() const { return ending() == ".cu" || ending() == ".cuh"; }
  bool is_test() const;  // below tests/, or *_test.cpp, or *_bench.cpp
  int lines() const;
  std::vector<Include> includes() const;
};

struct SourceTree {
  std::vector<SourceFile> files;  // sorted by path

  // The file that #include "name" means: src/<name>, or <name> itself for tests/... Null when there is none.
  const SourceFile* find_include(const std::string& name) const;
};

// Every .h .cpp .cu .cuh .proto below src/ and tests/.
SourceTree read_source_tree(const std::filesystem::path& root);

// The code with comments and the contents of strings and characters blanked; lines stay where they were.
std::string without_comments_and_strings(const std::string& text);

}  // namespace maskfit::architecture
