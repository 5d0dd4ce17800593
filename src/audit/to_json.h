#pragma once

#include <string>

#include "audit/audit.h"

namespace maskfit::audit {

// The whole audit as one JSON object: "ready", "errors", "warnings", "notes", "issues" (kind, level, count,
// what it costs, remedy, examples), "sources", "sequences". `examples`: how many of each issue; -1 for all.
std::string to_json(const Audit& audit, const dataset::Dataset& data, std::int64_t examples);

}  // namespace maskfit::audit
