#pragma once

// Reads protobuf's text format into a message, with the errors an engineer wants: all of them, each with
// line, column, field path and remedy. (protobuf's own TextFormat stops at the first one and has no remedies;
// a test compares both on every good file.)
//
// Understood: # comments; `field: value`, `section { }`, `section: { }`, `section < >`; commas and semicolons
// between fields; [a, b] for lists; strings in either quotes, neighbours joined; flags as true/True/t/1;
// names of enums by name or number; map entries as `map { key: "k" value { } }`, a repeated key replaces the
// earlier entry.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "base/finding.h"
#include "spec/source.h"

namespace maskfit::spec {

enum class ParseMode {
  kFresh,    // the message is empty
  kOverlay,  // the text is laid over what the message holds: fields replace, sections and map entries with
             // the same key are merged, a repeated field replaces the whole list
};

// Adds what is wrong to `findings` (all kRefused) and goes on behind it, so the message holds whatever was
// right. Notes the place of every field in `source`; source->file() names the file in findings.
void parse_text(std::string_view text, google::protobuf::Message* message, Source* source,
                base::Findings* findings, ParseMode mode = ParseMode::kFresh);

}  // namespace maskfit::spec
