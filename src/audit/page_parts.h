#pragma once

// Parts of the page; private to this folder.

#include <string>

#include "audit/page.h"

namespace maskfit::audit {

// Histograms, heat maps, and the table of sources.
std::string statistics_section(const Audit& audit, const dataset::Dataset& data);

// One section a finding. Pictures are taken from `budget` until it is used up.
std::string issue_sections(const Audit& audit, const dataset::Dataset& data, const PageOptions& options);

// A place in the page for a class's boxes: "k0" .. "k7".
std::string color_class(const dataset::Dataset& data, const std::string& class_name);

extern const char kAuditStyle[];

}  // namespace maskfit::audit
