#pragma once

// What a file may include. Every rule returns one message a violation, naming file, line and, where it was
// reached through other headers, the chain.

#include <set>
#include <string>
#include <vector>

#include "tests/architecture/module_table.h"
#include "tests/architecture/source_tree.h"

namespace maskfit::architecture {

using Violations = std::vector<std::string>;

// A folder includes only itself and the folders of its row; every folder of src/ has a row; #include "x"
// names an existing file from src/ (or a header made from a .proto), tests/ is for tests only.
Violations check_directions(const SourceTree& tree, const ModuleTable& table);

// A folder sees only the outside libraries of its row and of the folders that it includes.
Violations check_externals(const SourceTree& tree, const ModuleTable& table);

// No header reaches itself.
Violations check_cycles(const SourceTree& tree);

// The rings around LibTorch:
//   - torch/torch.h, torch/all.h and torch/extension.h are banned everywhere (3 s and 0.6 GB more a file);
//   - only folders whose row says "torch" reach LibTorch at all, however indirectly;
//   - no header outside tensor/ reaches it, except `internal_headers` ("model/outputs.h");
//   - no .cu or .cuh reaches it.
Violations check_torch(const SourceTree& tree, const ModuleTable& table,
                       const std::set<std::string>& internal_headers);

// How many .cpp files compile LibTorch's headers.
int count_torch_files(const SourceTree& tree);

}  // namespace maskfit::architecture
