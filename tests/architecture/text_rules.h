#pragma once

// Words that must not stand in the sources, the build files or the documents, and lists that must agree.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/architecture/include_rules.h"
#include "tests/architecture/module_table.h"
#include "tests/architecture/source_tree.h"

namespace maskfit::architecture {

// Path from the root -> text.
using TextFiles = std::map<std::string, std::string>;

// CMakeLists.txt, CMakePresets.json, cmake/*, dev, .ci/run and the CMakeLists.txt below tests/.
TextFiles read_build_files(const std::filesystem::path& root);

// No flag that needs a newer processor than x86-64 or that changes floating point: -march=native, -mavx2,
// -ffast-math, ... Comments (from "#") may name them.
Violations check_build_flags(const TextFiles& build_files);

// Product code outside cli/ never prints and never exits; no assert on data; no marks of unfinished work;
// every header has #pragma once.
Violations check_manners(const SourceTree& tree);

// The first cell of each row of the first Markdown table whose header's first cell is `heading`, without
// back-ticks.
std::vector<std::string> table_column(const std::string& markdown, const std::string& heading);

// Same names in the same order, or one message for the first difference.
Violations check_same_list(const std::string& what, const std::vector<std::string>& wanted,
                           const std::vector<std::string>& found);

// Every file that a document names in back-ticks ("network/resnet.cpp", "docs/numerics.md") exists at the
// root or below src/. Names with < > * or ... are patterns and are left alone.
Violations check_named_files(const std::string& document, const std::string& markdown,
                             const std::filesystem::path& root);

// Blocks between ``` lines, in order, without the fences and without comments ("# ..." to the end of the
// line), which are translated.
std::vector<std::string> code_blocks(const std::string& markdown);

}  // namespace maskfit::architecture
