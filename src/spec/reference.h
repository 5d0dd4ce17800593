#pragma once

// docs/spec-reference.md, made from the schema.

#include <string>

namespace maskfit::spec {

// The page as Markdown: every section of every kind of spec, with each field's type, default, range, unit and
// meaning.
std::string reference_markdown();

}  // namespace maskfit::spec
