#include "dataset/export_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace {

constexpr std::size_t kMaxBytes = 200;  // file systems allow 255, endings and temporary names come on top
constexpr std::size_t kHashDigits = 12;

std::string shortened(const std::string& name, const std::string& id) {
  if (name.size() <= kMaxBytes) return name;
  std::size_t end = kMaxBytes - kHashDigits - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "_" + base::sha256(id).substr(0, kHashDigits);
}

std::string last_part(const std::string& id) {
  const std::size_t slash = id.rfind('/');
  return shortened(slash == std::string::npos ? id : id.substr(slash + 1), id);
}

}  // namespace

std::string flat_name(const std::string& id) {
  std::string name = id;
  std::replace(name.begin(), name.end(), '/', '_');
  return shortened(name, id);
}

std::vector<std::string> export_names(const std::vector<std::string>& ids) {
  std::map<std::string, int> uses;
  for (const std::string& id : ids) ++uses[base::to_lower(last_part(id))];
  std::vector<std::string> names;
  std::map<std::string, int> flat_uses;
  for (const std::string& id : ids) {
    const std::string part = last_part(id);
    names.push_back(part.empty() || uses.at(base::to_lower(part)) > 1 ? flat_name(id) : part);
    ++flat_uses[base::to_lower(names.back())];
  }
  // "a/b" and "a_b" are one flat name, and so are "A" and "a" to some file systems.
  std::set<std::string> taken;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (flat_uses.at(base::to_lower(names[i])) > 1)
      names[i] += "_" + base::sha256(ids[i]).substr(0, kHashDigits);
    while (!taken.insert(base::to_lower(names[i])).second) names[i] += "_";
  }
  return names;
}

}  // namespace maskfit::dataset
