#include "spec/set_field.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "spec/rules.h"
#include "spec/text_parser.h"

namespace maskfit::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct Step {
  std::string field;
  std::optional<std::string> key;  // what stood in brackets
};

std::vector<Step> split_path(std::string_view path) {
  std::vector<Step> steps;
  while (true) {
    Step step;
    const std::size_t end = path.find_first_of(".[");
    step.field = base::trim(path.substr(0, end));
    path.remove_prefix(std::min(path.size(), end));
    if (path.starts_with('[')) {
      const std::size_t close = std::min(path.find(']'), path.size());
      step.key = path.substr(1, close - 1);
      path.remove_prefix(std::min(path.size(), close + 1));
    }
    steps.push_back(std::move(step));
    if (!path.starts_with('.')) return steps;
    path.remove_prefix(1);
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Assigner {
 public:
  Assigner(std::string_view assignment, Message* root, Source* source)
      : source_("--set " + std::string(assignment)),
        root_(*root->GetDescriptor()),
        message_(root),
        places_(*source) {}

  base::Findings assign(const std::vector<Step>& steps, std::string_view value) {
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      const FieldDescriptor* field = find(steps[i].field);
      if (field == nullptr || !enter(*field, steps[i].key)) return findings_;
    }
    const FieldDescriptor* field = find(steps.back().field);
    if (field == nullptr) return findings_;
    set(*field, steps.back().key, value);
    return findings_;
  }

 private:
  void refuse(const std::string& path, std::string what, std::string remedy) {
    findings_.push_back(source_.finding(base::Severity::kRefused, path, std::move(what), std::move(remedy)));
  }

  const FieldDescriptor* find(const std::string& name) {
    const FieldDescriptor* field = message_->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) {
      refuse(field_path(path_, name),
             path_.empty() ? "unknown field at the top level" : "unknown field in " + path_,
             unknown_field_remedy(name, *message_->GetDescriptor(), root_));
    }
    return field;
  }

  // Moves to the section that `field` (and the key in brackets) names.
  bool enter(const FieldDescriptor& field, const std::optional<std::string>& key) {
    const std::string path = field_path(path_, field.name());
    const FieldDescriptor& inner = field.is_map() ? map_value(field) : field;
    if (inner.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      refuse(path, fmt::format("{} is no section", field.name()), fmt::format("write {}=VALUE", path));
      return false;
    }
    const auto& reflection = *message_->GetReflection();
    if (!field.is_repeated()) {
      if (key) {
        refuse(path, fmt::format("{} has no entries", field.name()), fmt::format("leave [{}] out", *key));
        return false;
      }
      message_ = reflection.MutableMessage(message_, &field);
      path_ = path;
      return true;
    }
    if (!key) {
      refuse(path, fmt::format("{} has several entries", field.name()),
             fmt::format("name one: {}[{}]", path, field.is_map() ? "KEY" : "0"));
      return false;
    }
    if (!field.is_map()) return enter_item(field, *key, path);
    Message* entry = map_entry(field, *key);
    message_ = entry->GetReflection()->MutableMessage(entry, &inner);
    path_ = entry_path(path, *key);
    return true;
  }

  Message* map_entry(const FieldDescriptor& field, const std::string& key) {
    const auto& reflection = *message_->GetReflection();
    for (int i = 0; i < reflection.FieldSize(*message_, &field); ++i) {
      Message* entry = reflection.MutableRepeatedMessage(message_, &field, i);
      if (map_key(*entry) == key) return entry;
    }
    Message* entry = reflection.AddMessage(message_, &field);
    entry->GetReflection()->SetString(entry, field.message_type()->map_key(), key);
    return entry;
  }

  bool enter_item(const FieldDescriptor& field, const std::string& key, const std::string& path) {
    const auto& reflection = *message_->GetReflection();
    const int count = reflection.FieldSize(*message_, &field);
    const FieldDescriptor* name = field.message_type()->FindFieldByName("name");
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      Message* item = reflection.MutableRepeatedMessage(message_, &field, i);
      const std::string label = name != nullptr ? plain_text(*item, *name) : "";
      names.push_back(label);
      if (key != fmt::format("{}", i) && (label.empty() || key != label)) continue;
      message_ = item;
      path_ = item_path(path, i);
      return true;
    }
    const std::string near = base::nearest_name(key, names);
    refuse(entry_path(path, key), fmt::format("no entry {} among {}", key, count),
           near.empty() ? "entries are counted from 0" : fmt::format("did you mean {}?", near));
    return false;
  }

  void set(const FieldDescriptor& field, const std::optional<std::string>& key, std::string_view value) {
    const std::string path = field_path(path_, field.name());
    if (key && !field.is_map()) {
      refuse(path, fmt::format("{} is set as a whole", field.name()),
             fmt::format("write {}=[VALUE, ...]", path));
      return;
    }
    if (field.is_map() && !key) {
      refuse(path, fmt::format("{} has several entries", field.name()),
             fmt::format("write {}[KEY]=VALUE", path));
      return;
    }
    const FieldDescriptor& inner = field.is_map() ? map_value(field) : field;
    std::string text(value);
    const bool bare = inner.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !value.starts_with('"') &&
                      !value.starts_with('\'') && !value.starts_with('[');
    if (bare) text = quoted(value);
    text = field.is_map() ? fmt::format("{} {{ key: {} value: {} }}", field.name(), quoted(*key), text)
                          : fmt::format("{}: {}", field.name(), text);
    Source set_here(source_.file());
    parse_text(text, message_, &set_here, &findings_, ParseMode::kOverlay);
    for (base::Finding& finding : findings_) {
      finding.field = finding.field.empty() ? path : field_path(path_, finding.field);
      finding.line = finding.column = 0;
    }
    const std::string of = field.is_map() ? entry_path(path, *key) : path;
    if (findings_.empty()) places_.set(of, Place{source_.file(), 0, 0});
  }

  Source source_;
  const google::protobuf::Descriptor& root_;
  Message* message_;  // the section that path_ names
  std::string path_;
  Source& places_;
  base::Findings findings_;
};

}  // namespace

base::Findings set_field(Message* message, std::string_view assignment, Source* source) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    const Source here("--set " + std::string(assignment));
    return {here.finding(base::Severity::kRefused, "", "no value", "write PATH=VALUE")};
  }
  const std::vector<Step> steps = split_path(assignment.substr(0, equals));
  std::unique_ptr<Message> changed(message->New());
  changed->CopyFrom(*message);
  base::Findings findings =
      Assigner(assignment, changed.get(), source).assign(steps, assignment.substr(equals + 1));
  if (findings.empty()) message->CopyFrom(*changed);
  return findings;
}

}  // namespace maskfit::spec
