#include "spec/print.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <map>

#include "base/files.h"
#include "spec/rules.h"

namespace maskfit::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void print_message(const Message& message, int depth) {
    const auto& descriptor = *message.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) print_field(message, *descriptor.field(i), depth);
  }

  std::string take() { return std::move(text_); }

 private:
  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
  }

  std::string comment(const FieldDescriptor& field) const {
    const FieldRule& rule = rule_of(field);
    if (!options_.comments || rule.help().empty()) return "";
    return rule.unit().empty() ? fmt::format("  # {}", rule.help())
                               : fmt::format("  # {}. {}", rule.unit(), rule.help());
  }

  // An unset field that is worth showing: one that has a value (no presence) and does something.
  bool shown_when_unset(const FieldDescriptor& field) const {
    const FieldRule& rule = rule_of(field);
    return options_.all_fields && !field.is_repeated() && !field.has_presence() && rule.no_effect().empty() &&
           (rule.unsupported().empty() || rule.supported_size() > 0) && rule.refused_at_run().empty();
  }

  void print_field(const Message& message, const FieldDescriptor& field, int depth) {
    const auto& reflection = *message.GetReflection();
    if (field.is_map()) {
      print_map(message, field, depth);
    } else if (field.is_repeated()) {
      print_list(message, field, depth);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!reflection.HasField(message, &field)) return;
      print_section(field.name(), comment(field), reflection.GetMessage(message, &field), depth);
    } else if (reflection.HasField(message, &field) || shown_when_unset(field)) {
      line(depth, fmt::format("{}: {}{}", field.name(), scalar_text(message, field), comment(field)));
    }
  }

  void print_section(const std::string& name, const std::string& comment, const Message& message, int depth) {
    line(depth, fmt::format("{} {{{}", name, comment));
    print_message(message, depth + 1);
    line(depth, "}");
  }

  void print_list(const Message& message, const FieldDescriptor& field, int depth) {
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const std::string note = i == 0 ? comment(field) : "";
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        print_section(field.name(), note, reflection.GetRepeatedMessage(message, &field, i), depth);
      } else {
        line(depth, fmt::format("{}: {}{}", field.name(), scalar_text(message, field, i), note));
      }
    }
  }

  void print_map(const Message& message, const FieldDescriptor& field, int depth) {
    const auto& reflection = *message.GetReflection();
    std::map<std::string, const Message*> entries;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      entries[map_key(entry)] = &entry;
    }
    std::string note = comment(field);
    for (const auto& [key, entry] : entries) {
      const FieldDescriptor& value = map_value(field);
      line(depth, fmt::format("{} {{{}", field.name(), note));
      line(depth + 1, "key: " + scalar_text(*entry, *entry->GetDescriptor()->map_key()));
      if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        print_section("value", "", entry->GetReflection()->GetMessage(*entry, &value), depth + 1);
      } else {
        line(depth + 1, "value: " + scalar_text(*entry, value));
      }
      line(depth, "}");
      note.clear();
    }
  }

  PrintOptions options_;
  std::string text_;
};

}  // namespace

std::string to_text(const Message& message, const PrintOptions& options) {
  Printer printer(options);
  printer.print_message(message, 0);
  return printer.take();
}

std::string digest(const Message& message) {
  return base::sha256(to_text(message, {.comments = false, .all_fields = false}));
}

}  // namespace maskfit::spec
