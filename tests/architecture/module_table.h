#pragma once

// src/modules.txt: which folder may include which, and which outside libraries it may see.

#include <set>
#include <string>
#include <vector>

namespace maskfit::architecture {

struct Module {
  std::string folder;
  std::set<std::string> includes;   // folders; its own is not among them
  std::set<std::string> externals;  // "torch", "fmt", ...
};

struct ModuleTable {
  std::vector<Module> modules;  // bottom to top

  const Module* find(const std::string& folder) const;  // null when there is no such row
  // Outside libraries of the folder itself and of all that it includes.
  std::set<std::string> visible_externals(const Module& module) const;
};

// Throws std::runtime_error naming the line when a row does not have three cells, comes twice, or names a
// folder that is not above it.
ModuleTable parse_module_table(const std::string& text);

}  // namespace maskfit::architecture
