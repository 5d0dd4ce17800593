#include "spec/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "spec/cross_check.h"
#include "spec/rules.h"

namespace maskfit::spec {
namespace {

using base::Severity;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool contains(const google::protobuf::RepeatedPtrField<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string with_unit(const std::string& text, const FieldRule& rule) {
  return rule.unit().empty() ? text : fmt::format("{} ({})", text, rule.unit());
}

class FieldChecker {
 public:
  FieldChecker(const Source& source, const CheckOptions& options) : source_(source), options_(options) {}

  void check_message(const Message& message, const std::string& path) {
    const auto& descriptor = *message.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const FieldDescriptor& field = *descriptor.field(i);
      check_field(message, field, field_path(path, field.name()));
    }
    for (int i = 0; i < descriptor.real_oneof_decl_count(); ++i) {
      check_oneof(message, *descriptor.oneof_decl(i), path);
    }
  }

  base::Findings take() { return std::move(findings_); }

 private:
  void add(Severity severity, const std::string& path, std::string what, std::string remedy) {
    findings_.push_back(source_.finding(severity, path, std::move(what), std::move(remedy)));
  }

  // Set in the text, or different from what an unset field holds.
  bool is_set(const Message& message, const FieldDescriptor& field, const std::string& path) const {
    if (field.is_repeated()) return message.GetReflection()->FieldSize(message, &field) > 0;
    return message.GetReflection()->HasField(message, &field) || source_.has(path);
  }

  void check_field(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const FieldRule& rule = rule_of(field);
    if (!is_set(message, field, path)) {
      if (rule.required() && !options_.incomplete && !from_elsewhere(path)) {
        add(Severity::kRefused, path, fmt::format("{} is missing", field.name()),
            with_unit("set it: " + allowed_text(field), rule));
      }
      return;
    }
    if (!is_default(message, field)) check_support(message, field, path);
    if (field.is_repeated()) {
      check_items(message, field, path);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      check_message(message.GetReflection()->GetMessage(message, &field), path);
    } else {
      check_range(message, field, rule, path, -1);
    }
  }

  void check_items(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    const FieldRule& rule = rule_of(field);
    const int count = reflection.FieldSize(message, &field);
    for (int i = 0; i < count; ++i) {
      if (field.is_map()) {
        const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
        const std::string inner = entry_path(path, map_key(entry));
        const FieldDescriptor& value = map_value(field);
        if (value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
          check_message(entry.GetReflection()->GetMessage(entry, &value), inner);
        } else {
          check_range(entry, value, rule, inner, -1);
        }
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        check_message(reflection.GetRepeatedMessage(message, &field, i), item_path(path, i));
      } else {
        check_range(message, field, rule, item_path(path, i), i);
      }
    }
    if (rule.max_count() > 0 && count > static_cast<int>(rule.max_count())) {
      add(Severity::kRefused, path, fmt::format("{} entries", count),
          fmt::format("at most {}", rule.max_count()));
    }
  }

  // `rule` is the map's for the value of a map entry.
  void check_range(const Message& message, const FieldDescriptor& field, const FieldRule& rule,
                   const std::string& path, int index) {
    // 0 in a field without presence means its default, where it has one.
    const std::string text = plain_text(message, field, index);
    if (!rule.default_().empty() && !field.has_presence() && index < 0 && (text == "0" || text.empty()))
      return;
    if (is_number(field)) {
      const double value = number(message, field, index);
      const bool inside = std::isfinite(value) && !(rule.has_min() && value < rule.min()) &&
                          !(rule.has_above() && value <= rule.above()) &&
                          !(rule.has_max() && value > rule.max()) &&
                          !(rule.has_below() && value >= rule.below());
      const bool multiple = rule.multiple_of() == 0 || std::fmod(value, rule.multiple_of()) == 0;
      if (!inside || !multiple) {
        add(Severity::kRefused, path, fmt::format("{} is out of range", text), allowed(field, rule));
        return;
      }
    }
    if (rule.one_of_size() > 0 && !contains(rule.one_of(), text)) {
      std::string remedy = allowed(field, rule);
      const std::string near = base::nearest_name(text, {rule.one_of().begin(), rule.one_of().end()});
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !near.empty()) {
        remedy += fmt::format("; did you mean {}?", near);
      }
      add(Severity::kRefused, path, fmt::format("{} is not allowed", scalar_text(message, field, index)),
          remedy);
    } else if (rule.required() && field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && text.empty()) {
      add(Severity::kRefused, path, "the text is empty", "set it");
    }
  }

  static std::string allowed(const FieldDescriptor& field, const FieldRule& rule) {
    // The value of a map entry has no rule of its own: its container has.
    const auto* container = field.containing_type();
    const bool in_map = container->options().map_entry();
    if (!in_map) return with_unit("allowed: " + allowed_text(field), rule);
    const auto* holder = container->containing_type();
    for (int i = 0; i < holder->field_count(); ++i) {
      if (holder->field(i)->message_type() == container) {
        return with_unit("allowed: " + allowed_text(*holder->field(i)), rule);
      }
    }
    return "";
  }

  void check_support(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const FieldRule& rule = rule_of(field);
    if (!rule.unsupported().empty()) {
      const bool partly = rule.supported_size() > 0;
      if (partly && !is_refusable(message, field, rule)) return;
      const bool scalar = field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated();
      add(Severity::kRefused, path,
          scalar ? fmt::format("{} is not supported yet", scalar_text(message, field)) : "not supported yet",
          partly ? fmt::format("{}; supported: {}", rule.unsupported(), fmt::join(rule.supported(), ", "))
                 : rule.unsupported());
    }
    if (!rule.refused_at_run().empty()) {
      const bool run = options_.purpose == Purpose::kRun;
      add(run ? Severity::kRefused : Severity::kWarning, path,
          run ? "not supported yet" : "valid, but not supported yet by the command that needs it",
          rule.refused_at_run());
    }
    if (!rule.no_effect().empty()) add(Severity::kWarning, path, "has no effect", rule.no_effect());
  }

  // Legal, but not among the values that are implemented. (Illegal ones are check_range's business.)
  static bool is_refusable(const Message& message, const FieldDescriptor& field, const FieldRule& rule) {
    const std::string text = plain_text(message, field);
    if (contains(rule.supported(), text)) return false;
    return rule.one_of_size() == 0 || contains(rule.one_of(), text);
  }

  // Holds what an unset field would mean.
  static bool is_default(const Message& message, const FieldDescriptor& field) {
    if (field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return false;
    const std::string text = plain_text(message, field);
    if (text == default_text(field)) return true;
    return !field.has_presence() && (text.empty() || text == "0" || text == "false");
  }

  void check_oneof(const Message& message, const google::protobuf::OneofDescriptor& oneof,
                   const std::string& path) {
    if (options_.incomplete || !rule_of(oneof).required() ||
        message.GetReflection()->HasOneof(message, &oneof))
      return;
    std::vector<std::string> names;
    for (int i = 0; i < oneof.field_count(); ++i) names.push_back(oneof.field(i)->name());
    add(Severity::kRefused, path, fmt::format("{} is missing", fmt::join(names, " or ")), "set one of them");
  }

  bool from_elsewhere(const std::string& path) const {
    if (!options_.data_from_elsewhere) return false;
    return is_under(path, "dataset_config") || path == "cost_function_config.target_classes" ||
           path == "bbox_rasterizer_config.target_class_config" ||
           path == "postprocessing_config.target_class_config" ||
           path == "evaluation_config.minimum_detection_ground_truth_overlap" ||
           path == "evaluation_config.evaluation_box_config";
  }

  const Source& source_;
  const CheckOptions& options_;
  base::Findings findings_;
};

template <typename Spec>
base::Findings check_all(const Spec& spec, const Source& source, const CheckOptions& options) {
  base::Findings findings = check_fields(spec, source, options);
  if (!options.incomplete) {
    for (base::Finding& finding : cross_check(spec, source, options)) findings.push_back(std::move(finding));
  }
  sort_by_place(&findings);
  return findings;
}

}  // namespace

base::Findings check_fields(const Message& message, const Source& source, const CheckOptions& options) {
  FieldChecker checker(source, options);
  checker.check_message(message, "");
  return checker.take();
}

base::Findings check(const Experiment& experiment, const Source& source, const CheckOptions& options) {
  return check_all(experiment, source, options);
}

base::Findings check(const DatasetExportConfig& config, const Source& source, const CheckOptions& options) {
  return check_all(config, source, options);
}

base::Findings check(const Inference& inference, const Source& source, const CheckOptions& options) {
  return check_all(inference, source, options);
}

void sort_by_place(base::Findings* findings) {
  std::stable_sort(findings->begin(), findings->end(), [](const base::Finding& a, const base::Finding& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
}

bool has_refused(const base::Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const base::Finding& finding) { return finding.severity == Severity::kRefused; });
}

void throw_if_refused(const base::Findings& findings) {
  std::vector<std::string> lines;
  std::string where;
  for (const base::Finding& finding : findings) {
    if (finding.severity != Severity::kRefused) continue;
    if (lines.empty()) where = finding.file;
    lines.push_back("  " + base::to_string(finding));
  }
  if (lines.empty()) return;
  throw base::Error(base::ExitCode::kRefused, fmt::format("the spec is refused:\n{}", fmt::join(lines, "\n")),
                    where, "mend the fields named; docs/spec-reference.md lists them all");
}

}  // namespace maskfit::spec
