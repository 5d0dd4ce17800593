#pragma once

// The file that facts survive in between two audits: a row of records by path, sealed with a digest.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit/facts.h"

namespace maskfit::audit {

// Absolute path -> facts.
using FactsByPath = std::unordered_map<std::string, PictureFacts>;

std::string pack_facts(const FactsByPath& facts);
// Nothing for bytes that pack_facts() of this version did not write, or that were changed since.
std::optional<FactsByPath> unpack_facts(std::string_view bytes);

// Whether the cached facts may be used for a file that looks like `now`, without reading it: the stamps
// agree, and the file had been quiet for a while when it was looked at (a second write within the clock's
// grain would leave no trace).
bool still_valid(const PictureFacts& cached, const FileStamp& now);

}  // namespace maskfit::audit
