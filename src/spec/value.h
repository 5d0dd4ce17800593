#pragma once

// One scalar value, from text into a field of a message.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "spec/text_lexer.h"

namespace maskfit::spec {

// A value as written. For kString `text` is the string itself, without quotes.
struct ValueText {
  TokenKind kind = TokenKind::kWord;  // kWord, kInteger, kFloat or kString
  bool negative = false;              // a minus sign stood before it
  std::string text;
};

struct ValueError {
  std::string what;    // "\"abc\" is not a whole number"
  std::string remedy;  // "allowed: a whole number above 0"
};

// Sets the field, or adds an entry to a repeated one. Leaves the message alone when the text does not fit the
// field's type. Ranges are not looked at here, see check.h. REQUIRES a scalar field.
//   Numbers: 5, -5, 0x1f, 0.5, 5e-06, inf.  Flags: true, false, True, False, t, f, 1, 0.
//   Names of an enum: by name in any case, or by number.
std::optional<ValueError> set_value(google::protobuf::Message* message,
                                    const google::protobuf::FieldDescriptor& field, const ValueText& value);

}  // namespace maskfit::spec
