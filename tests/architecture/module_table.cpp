#include "tests/architecture/module_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace maskfit::architecture {
namespace {

std::set<std::string> words(const std::string& text) {
  const auto list = base::split_words(text);
  return {list.begin(), list.end()};
}

Module parse_row(const std::string& row, int line, const ModuleTable& above) {
  const auto cells = base::split(row, '|');
  if (cells.size() != 3)
    throw std::runtime_error(fmt::format("modules.txt:{}: expected 3 cells, found {}", line, cells.size()));
  Module module{base::trim(cells[0]), words(cells[1]), words(cells[2])};
  if (above.find(module.folder))
    throw std::runtime_error(fmt::format("modules.txt:{}: {} comes twice", line, module.folder));
  if (module.includes == std::set<std::string>{"*"}) {
    module.includes.clear();
    for (const Module& other : above.modules) module.includes.insert(other.folder);
  }
  for (const std::string& name : module.includes) {
    if (!above.find(name)) {
      throw std::runtime_error(
          fmt::format("modules.txt:{}: {} names {}, which is not above it", line, module.folder, name));
    }
  }
  return module;
}

}  // namespace

const Module* ModuleTable::find(const std::string& folder) const {
  const auto at =
      std::find_if(modules.begin(), modules.end(), [&](const Module& m) { return m.folder == folder; });
  return at == modules.end() ? nullptr : &*at;
}

std::set<std::string> ModuleTable::visible_externals(const Module& module) const {
  std::set<std::string> names = module.externals;
  for (const std::string& folder : module.includes) {
    if (const Module* other = find(folder)) names.insert(other->externals.begin(), other->externals.end());
  }
  return names;
}

ModuleTable parse_module_table(const std::string& text) {
  ModuleTable table;
  int number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    table.modules.push_back(parse_row(line, number, table));
  }
  return table;
}

}  // namespace maskfit::architecture
