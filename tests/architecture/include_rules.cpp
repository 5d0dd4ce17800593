#include "tests/architecture/include_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <regex>

namespace maskfit::architecture {
namespace {

using Chain = std::vector<std::string>;

std::string place(const SourceFile& file, const Include& include) {
  return fmt::format("{}:{}", file.path, include.line);
}

// spec/experiment.pb.h is made from src/spec/experiment.proto.
bool is_generated(const SourceTree& tree, const std::string& name) {
  static const std::string ending = ".pb.h";
  if (!name.ends_with(ending)) return false;
  return tree.find_include(name.substr(0, name.size() - ending.size()) + ".proto") != nullptr;
}

bool is_torch(const std::string& include) {
  static const std::regex pattern("^(ATen|c10|torch|caffe2)/.*");
  return std::regex_match(include, pattern);
}

// Which row of the table an outside header stands for; "" for the standard library, the system and test
// libraries.
std::string external_of(const std::string& include) {
  static const std::vector<std::pair<std::regex, std::string>> patterns = {
      {std::regex("^(ATen|c10|torch|caffe2)/.*"), "torch"},
      {std::regex("^CLI/.*"), "cli11"},
      {std::regex("^archive(_entry)?\\.h$"), "archive"},
      {std::regex("^curl/.*"), "curl"},
      {std::regex("^cuda.*|^cub/.*|^nccl.*"), "cuda"},
      {std::regex("^fmt/.*"), "fmt"},
      {std::regex("^google/protobuf/.*"), "protobuf"},
      {std::regex("^nlohmann/.*"), "json"},
      {std::regex("^openssl/.*"), "openssl"},
      {std::regex("^png.h"), "png"},
      {std::regex("^pugixml.hpp"), "pugixml"},
      {std::regex("^zlib.h"), "zlib"},
      {std::regex("^spdlog/.*"), "spdlog"},
      {std::regex("^sqlite3.h"), "sqlite"},
      {std::regex("^turbojpeg.h"), "turbojpeg"},
      {std::regex("^webp/.*"), "webp"},
  };
  for (const auto& [pattern, name] : patterns) {
    if (std::regex_match(include, pattern)) return name;
  }
  return "";
}

// The shortest way from a file to a LibTorch header, as include names; empty when there is none. Remembers
// what it found.
class TorchReach {
 public:
  explicit TorchReach(const SourceTree& tree) : tree_(tree) {}

  const Chain& from(const SourceFile& file) {
    const auto [at, is_new] = found_.try_emplace(file.path);
    if (!is_new) return at->second;  // also ends a cycle: what is being looked at counts as not reaching
    Chain best;
    for (const Include& include : file.includes()) {
      Chain rest;
      if (is_torch(include.target)) {
        rest = {include.target};
      } else if (const SourceFile* next = tree_.find_include(include.target)) {
        rest = from(*next);
      }
      if (!rest.empty() && (best.empty() || rest.size() + 1 < best.size())) {
        best = {file.include_name()};
        best.insert(best.end(), rest.begin(), rest.end());
      }
    }
    return found_[file.path] = best;
  }

 private:
  const SourceTree& tree_;
  std::map<std::string, Chain> found_;
};

std::string to_string(const Chain& chain) {
  return fmt::format("{}", fmt::join(chain, " -> "));
}

std::optional<std::string> check_direction(const SourceTree& tree, const Module& module,
                                           const SourceFile& file, const Include& include) {
  const SourceFile* target = tree.find_include(include.target);
  if (target == nullptr && !is_generated(tree, include.target)) {
    return fmt::format("{} includes \"{}\", which does not exist; write \"folder/file.h\", from src/",
                       place(file, include), include.target);
  }
  if (include.target.starts_with("tests/")) {
    if (file.is_test()) return std::nullopt;
    return fmt::format("{} is product code and includes \"{}\"", place(file, include), include.target);
  }
  const std::string folder = include.target.substr(0, include.target.find('/'));
  if (folder == module.folder || module.includes.count(folder) > 0) return std::nullopt;
  return fmt::format("{} includes \"{}\", but modules.txt lets {} include only: {}", place(file, include),
                     include.target, module.folder, fmt::join(module.includes, " "));
}

// Depth first; `path` is the chain of headers from the root of this search.
void find_cycles(const SourceTree& tree, const SourceFile& file, Chain& path, std::set<std::string>& done,
                 Violations& violations) {
  const std::string name = file.include_name();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != name) continue;
    violations.push_back(
        fmt::format("headers include each other: {} -> {}",
                    fmt::join(path.begin() + static_cast<std::ptrdiff_t>(i), path.end(), " -> "), name));
    return;
  }
  if (done.count(name) > 0) return;
  path.push_back(name);
  for (const Include& include : file.includes()) {
    if (const SourceFile* next = tree.find_include(include.target))
      find_cycles(tree, *next, path, done, violations);
  }
  path.pop_back();
  done.insert(name);
}

}  // namespace

Violations check_directions(const SourceTree& tree, const ModuleTable& table) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    if (!file.path.starts_with("src/") || file.ending() == ".proto") continue;
    const Module* module = table.find(file.folder());
    if (module == nullptr) {
      violations.push_back(fmt::format("{}: the folder has no row in modules.txt", file.path));
      continue;
    }
    for (const Include& include : file.includes()) {
      if (!include.quoted) continue;
      if (const auto message = check_direction(tree, *module, file, include)) violations.push_back(*message);
    }
  }
  return violations;
}

Violations check_externals(const SourceTree& tree, const ModuleTable& table) {
  Violations violations;
  for (const SourceFile& file : tree.files) {
    const Module* module = table.find(file.folder());
    if (module == nullptr || file.is_test()) continue;  // tests may look at anything: they judge
    const std::set<std::string> visible = table.visible_externals(*module);
    for (const Include& include : file.includes()) {
      const std::string external = external_of(include.target);
      if (external.empty() || external == "torch" || visible.count(external) > 0) continue;
      violations.push_back(fmt::format("{} includes <{}>, but modules.txt does not give {} the library {}",
                                       place(file, include), include.target, module->folder, external));
    }
  }
  return violations;
}

Violations check_cycles(const SourceTree& tree) {
  Violations violations;
  std::set<std::string> done;
  for (const SourceFile& file : tree.files) {
    Chain path;
    find_cycles(tree, file, path, done, violations);
  }
  return violations;
}

Violations check_torch(const SourceTree& tree, const ModuleTable& table,
                       const std::set<std::string>& internal_headers) {
  static const std::set<std::string> banned = {"torch/torch.h", "torch/all.h", "torch/extension.h"};
  Violations violations;
  TorchReach reach(tree);
  for (const SourceFile& file : tree.files) {
    for (const Include& include : file.includes()) {
      if (banned.count(include.target) > 0) {
        violations.push_back(fmt::format("{} includes <{}>, which is banned; include the narrow headers",
                                         place(file, include), include.target));
      }
    }
    const Chain& chain = reach.from(file);
    const Module* module = table.find(file.folder());
    if (chain.empty() || module == nullptr) continue;
    if (module->externals.count("torch") == 0) {
      violations.push_back(fmt::format("{} reaches LibTorch, which {} may not see: {}", file.path,
                                       module->folder, to_string(chain)));
    } else if (file.is_cuda()) {
      violations.push_back(fmt::format("{} is CUDA and reaches LibTorch: {}", file.path, to_string(chain)));
    } else if (file.is_header() && module->folder != "tensor" &&
               internal_headers.count(file.include_name()) == 0) {
      violations.push_back(fmt::format("{} is a header outside tensor/ and reaches LibTorch: {}", file.path,
                                       to_string(chain)));
    }
  }
  return violations;
}

int count_torch_files(const SourceTree& tree) {
  TorchReach reach(tree);
  int count = 0;
  for (const SourceFile& file : tree.files) {
    if (file.ending() == ".cpp" && !reach.from(file).empty()) ++count;
  }
  return count;
}

}  // namespace maskfit::architecture
