#include "spec/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace maskfit::spec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool is_whole_number(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return true;
    default:
      return false;
  }
}

std::string scalar_type_text(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "section";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "text";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "name";
    default:
      return is_whole_number(field) ? "whole number" : "number";
  }
}

std::string interval_text(const FieldRule& rule) {
  if (rule.has_min() && rule.has_max()) return fmt::format("{} to {}", rule.min(), rule.max());
  std::vector<std::string> parts;
  if (rule.has_min()) parts.push_back(fmt::format("{} or more", rule.min()));
  if (rule.has_above()) parts.push_back(fmt::format("above {}", rule.above()));
  if (rule.has_max()) parts.push_back(fmt::format("at most {}", rule.max()));
  if (rule.has_below()) parts.push_back(fmt::format("below {}", rule.below()));
  return fmt::format("{}", fmt::join(parts, " and "));
}

void find_sections_with(const std::string& name, const Descriptor& section, const std::string& path,
                        std::set<const Descriptor*>* seen, std::vector<std::string>* found) {
  if (!seen->insert(&section).second) return;
  for (int i = 0; i < section.field_count(); ++i) {
    const FieldDescriptor& field = *section.field(i);
    if (field.name() == name) found->push_back(path.empty() ? "the top level" : path);
    const FieldDescriptor& inner = field.is_map() ? map_value(field) : field;
    if (inner.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    find_sections_with(name, *inner.message_type(), path.empty() ? field.name() : path + "." + field.name(),
                       seen, found);
  }
}

}  // namespace

const FieldRule& rule_of(const FieldDescriptor& field) {
  return field.options().GetExtension(rule);
}

const OneofRule& rule_of(const google::protobuf::OneofDescriptor& oneof) {
  return oneof.options().GetExtension(one_of_rule);
}

const std::string& section_help(const Descriptor& message) {
  return message.options().GetExtension(section).help();
}

std::string type_text(const FieldDescriptor& field) {
  if (field.is_map()) return "map to " + scalar_type_text(map_value(field));
  if (!field.is_repeated()) return scalar_type_text(field);
  const std::string type = scalar_type_text(field);
  return "list of " + (type == "text" ? "texts" : type + "s");
}

bool is_number(const FieldDescriptor& field) {
  return is_whole_number(field) || field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
}

std::vector<std::string> enum_names(const FieldDescriptor& field) {
  std::vector<std::string> names;
  for (int i = 0; i < field.enum_type()->value_count(); ++i)
    names.push_back(field.enum_type()->value(i)->name());
  return names;
}

std::string allowed_text(const FieldDescriptor& field) {
  const FieldRule& about = rule_of(field);
  const FieldDescriptor& value = field.is_map() ? map_value(field) : field;
  if (about.one_of_size() > 0) return fmt::format("one of {}", fmt::join(about.one_of(), ", "));
  switch (value.cpp_type()) {
    case FieldDescriptor::CPPTYPE_ENUM:
      return fmt::format("one of {}", fmt::join(enum_names(value), ", "));
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "text in quotes";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "a section in braces";
    default:
      break;
  }
  std::string text = is_whole_number(value) ? "a whole number" : "a number";
  const bool is_unsigned = value.cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
                           value.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
  const std::string interval = interval_text(about);
  if (!interval.empty()) {
    text += (about.has_min() && about.has_max() ? " from " : ", ") + interval;
  } else if (is_unsigned) {
    text += ", 0 or more";
  }
  if (about.multiple_of() > 0) text += fmt::format(", a multiple of {}", about.multiple_of());
  return text;
}

std::string default_text(const FieldDescriptor& field) {
  const FieldRule& about = rule_of(field);
  if (!about.default_().empty()) return about.default_();
  if (field.is_repeated() || field.has_presence()) return "";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "";
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.default_value_enum()->name();
    default:
      return "0";
  }
}

std::string plain_text(const Message& message, const FieldDescriptor& field, int index) {
  const auto& reflection = *message.GetReflection();
  const FieldDescriptor* f = &field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return (index < 0 ? reflection.GetBool(message, f) : reflection.GetRepeatedBool(message, f, index))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return index < 0 ? reflection.GetString(message, f) : reflection.GetRepeatedString(message, f, index);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = index < 0 ? reflection.GetEnumValue(message, f)
                                  : reflection.GetRepeatedEnumValue(message, f, index);
      const auto* known = field.enum_type()->FindValueByNumber(value);
      return known != nullptr ? known->name() : fmt::format("{}", value);
    }
    case FieldDescriptor::CPPTYPE_FLOAT:  // not through double: the shortest text of the float
      return fmt::format(
          "{}", index < 0 ? reflection.GetFloat(message, f) : reflection.GetRepeatedFloat(message, f, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format(
          "{}", index < 0 ? reflection.GetInt64(message, f) : reflection.GetRepeatedInt64(message, f, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", index < 0 ? reflection.GetUInt64(message, f)
                                         : reflection.GetRepeatedUInt64(message, f, index));
    default:
      return fmt::format("{}", number(message, field, index));
  }
}

std::string scalar_text(const Message& message, const FieldDescriptor& field, int index) {
  const std::string text = plain_text(message, field, index);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

double number(const Message& message, const FieldDescriptor& field, int index) {
  const auto& r = *message.GetReflection();
  const FieldDescriptor* f = &field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return index < 0 ? r.GetInt32(message, f) : r.GetRepeatedInt32(message, f, index);
    case FieldDescriptor::CPPTYPE_UINT32:
      return index < 0 ? r.GetUInt32(message, f) : r.GetRepeatedUInt32(message, f, index);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(index < 0 ? r.GetInt64(message, f) : r.GetRepeatedInt64(message, f, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(index < 0 ? r.GetUInt64(message, f)
                                           : r.GetRepeatedUInt64(message, f, index));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return index < 0 ? r.GetFloat(message, f) : r.GetRepeatedFloat(message, f, index);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return index < 0 ? r.GetDouble(message, f) : r.GetRepeatedDouble(message, f, index);
    default:
      return 0;
  }
}

const FieldDescriptor& map_value(const FieldDescriptor& map_field) {
  return *map_field.message_type()->map_value();
}

std::string map_key(const Message& entry) {
  return plain_text(entry, *entry.GetDescriptor()->map_key());
}

std::string unknown_field_remedy(const std::string& name, const Descriptor& around, const Descriptor& root) {
  std::vector<std::string> names;
  for (int i = 0; i < around.field_count(); ++i) names.push_back(around.field(i)->name());
  if (const std::string near = base::nearest_name(name, names); !near.empty()) {
    return fmt::format("did you mean {}?", near);
  }
  std::vector<std::string> elsewhere;
  std::set<const Descriptor*> seen;
  find_sections_with(name, root, "", &seen, &elsewhere);
  if (!elsewhere.empty()) return fmt::format("it belongs into {}", fmt::join(elsewhere, " or "));
  return fmt::format("known here: {}", fmt::join(names, ", "));
}

}  // namespace maskfit::spec
