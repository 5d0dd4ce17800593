#include "spec/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/strtod.h>
#include <google/protobuf/io/tokenizer.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "base/text.h"
#include "spec/rules.h"

namespace maskfit::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::io::Tokenizer;

std::string as_written(const ValueText& value) {
  if (value.kind == TokenKind::kString) return fmt::format("\"{}\"", value.text);
  return (value.negative ? "-" : "") + value.text;
}

ValueError misfit(const FieldDescriptor& field, const ValueText& value, std::string_view expected) {
  return {fmt::format("{} is not {}", as_written(value), expected), "allowed: " + allowed_text(field)};
}

// Calls `set` or `add`, whichever the field needs.
template <typename Value, typename Set, typename Add>
void store(Message* message, const FieldDescriptor& field, Value&& value, Set set, Add add) {
  const auto& reflection = *message->GetReflection();
  if (field.is_repeated()) {
    (reflection.*add)(message, &field, std::forward<Value>(value));
  } else {
    (reflection.*set)(message, &field, std::forward<Value>(value));
  }
}

using google::protobuf::Reflection;

std::optional<ValueError> set_whole_number(Message* message, const FieldDescriptor& field,
                                           const ValueText& value) {
  if (value.kind == TokenKind::kFloat) {
    return ValueError{fmt::format("{} has a decimal point or an exponent", as_written(value)),
                      "allowed: " + allowed_text(field)};
  }
  if (value.kind != TokenKind::kInteger) return misfit(field, value, "a whole number");

  std::uint64_t largest = 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      largest = std::numeric_limits<std::int32_t>::max();
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      largest = std::numeric_limits<std::int64_t>::max();
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      largest = std::numeric_limits<std::uint32_t>::max();
      break;
    default:
      largest = std::numeric_limits<std::uint64_t>::max();
      break;
  }
  const bool is_unsigned = field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
                           field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
  std::uint64_t magnitude = 0;
  if (value.negative && is_unsigned) return misfit(field, value, "0 or more");
  if (!Tokenizer::ParseInteger(value.text, largest, &magnitude)) {
    return ValueError{fmt::format("{} is too large", as_written(value)), fmt::format("at most {}", largest)};
  }
  const auto whole =
      value.negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      store(message, field, static_cast<std::int32_t>(whole), &Reflection::SetInt32, &Reflection::AddInt32);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      store(message, field, whole, &Reflection::SetInt64, &Reflection::AddInt64);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      store(message, field, static_cast<std::uint32_t>(magnitude), &Reflection::SetUInt32,
            &Reflection::AddUInt32);
      break;
    default:
      store(message, field, magnitude, &Reflection::SetUInt64, &Reflection::AddUInt64);
      break;
  }
  return std::nullopt;
}

std::optional<ValueError> set_number(Message* message, const FieldDescriptor& field, const ValueText& value) {
  double parsed = 0;
  const std::string word = base::to_lower(value.text);
  if (value.kind == TokenKind::kInteger || value.kind == TokenKind::kFloat) {
    parsed = Tokenizer::ParseFloat(value.text);
  } else if (value.kind == TokenKind::kWord && (word == "inf" || word == "infinity")) {
    parsed = std::numeric_limits<double>::infinity();
  } else if (value.kind == TokenKind::kWord && word == "nan") {
    parsed = std::numeric_limits<double>::quiet_NaN();
  } else {
    return misfit(field, value, "a number");
  }
  if (value.negative) parsed = -parsed;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT) {
    store(message, field, google::protobuf::io::SafeDoubleToFloat(parsed), &Reflection::SetFloat,
          &Reflection::AddFloat);
  } else {
    store(message, field, parsed, &Reflection::SetDouble, &Reflection::AddDouble);
  }
  return std::nullopt;
}

std::optional<ValueError> set_flag(Message* message, const FieldDescriptor& field, const ValueText& value) {
  const std::string word = base::to_lower(value.text);
  const bool is_text = value.kind == TokenKind::kString;
  const bool yes = word == "true" || word == "t" || word == "1";
  const bool no = word == "false" || word == "f" || word == "0";
  if (is_text || value.negative || yes == no) return misfit(field, value, "true or false");
  store(message, field, yes, &Reflection::SetBool, &Reflection::AddBool);
  return std::nullopt;
}

std::optional<ValueError> set_enum(Message* message, const FieldDescriptor& field, const ValueText& value) {
  const auto& type = *field.enum_type();
  const google::protobuf::EnumValueDescriptor* found = nullptr;
  for (int i = 0; i < type.value_count() && !value.negative; ++i) {
    const auto& candidate = *type.value(i);
    const bool by_name =
        value.kind == TokenKind::kWord && base::to_lower(candidate.name()) == base::to_lower(value.text);
    const bool by_number =
        value.kind == TokenKind::kInteger && fmt::format("{}", candidate.number()) == value.text;
    if (by_name || by_number) found = &candidate;
  }
  if (found == nullptr) {
    const std::vector<std::string> names = enum_names(field);
    std::string remedy = fmt::format("allowed: {}", fmt::join(names, ", "));
    if (value.kind == TokenKind::kString) {
      remedy += "; without quotes";
    } else if (const std::string near = base::nearest_name(value.text, names); !near.empty()) {
      remedy += fmt::format("; did you mean {}?", near);
    }
    return ValueError{fmt::format("{} has no value {}", field.name(), as_written(value)), remedy};
  }
  store(message, field, found, &Reflection::SetEnum, &Reflection::AddEnum);
  return std::nullopt;
}

std::optional<ValueError> set_text(Message* message, const FieldDescriptor& field, const ValueText& value) {
  if (value.kind != TokenKind::kString) {
    return ValueError{fmt::format("{} is text and must stand in quotes", as_written(value)),
                      fmt::format("write \"{}\"", as_written(value))};
  }
  store(message, field, std::string(value.text), &Reflection::SetString, &Reflection::AddString);
  return std::nullopt;
}

}  // namespace

std::optional<ValueError> set_value(Message* message, const FieldDescriptor& field, const ValueText& value) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return set_number(message, field, value);
    case FieldDescriptor::CPPTYPE_BOOL:
      return set_flag(message, field, value);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set_enum(message, field, value);
    case FieldDescriptor::CPPTYPE_STRING:
      return set_text(message, field, value);
    default:
      return set_whole_number(message, field, value);
  }
}

}  // namespace maskfit::spec
