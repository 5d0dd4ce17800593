#include "spec/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/descriptor.h>

#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"
#include "spec/rules.h"

namespace maskfit::spec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kHead = R"(# Spec reference

<!-- Made by `maskfit spec reference > docs/spec-reference.md` from src/spec/*.proto; a test keeps it in step. -->

Spec files are protobuf text. Those of TLT 2.0, 3.0 and TAO 4, 5 for DetectNet_v2 are read as they are.

```
# a comment
training_config {              # a section; `training_config: {` is the same
  num_epochs: 120              # a field; commas and semicolons between fields are allowed
}
cost_function_config {
  target_classes { name: "mask" }     # a list of sections: one after the other, or [{ ... }, { ... }]
}
bbox_rasterizer_config {
  target_class_config { key: "mask" value { cov_radius_x: 0.4 } }   # a map: one entry a key, the last one counts
}
```

`maskfit spec check FILE` reports everything that is wrong, with line, column and remedy; `maskfit spec show FILE` prints
the spec with every default filled in; `maskfit spec defaults` prints a complete one to start from.

- **Default** is what an unset field means. Where the meaning says "0 means ...", 0 counts as unset.
- **required**: the spec is refused without it. A spec with `training_config { recipe: TLT }` or `SCRATCH` is laid over
  that recipe and may leave anything out.
- **Not supported yet**: setting the field to anything but its default is refused.
- **Refused by the command**: the spec is valid, but the command that would need the field refuses it.
- **No effect**: accepted, as in the reference, and reported.
- Fields marked **+** are maskfit's own.
)";

// In a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string anchor(const Descriptor& section) {
  // "maskfit.spec.AugmentationConfig.Preprocessing" -> "augmentationconfig-preprocessing"
  std::string name = base::to_lower(section.full_name().substr(section.file()->package().size() + 1));
  for (char& c : name) {
    if (c == '.') c = '-';
  }
  return name;
}

const Descriptor* inner_section(const FieldDescriptor& field) {
  const FieldDescriptor& value = field.is_map() ? map_value(field) : field;
  return value.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? value.message_type() : nullptr;
}

std::string meaning_text(const FieldDescriptor& field) {
  const FieldRule& about = rule_of(field);
  std::string text = about.help();
  if (field.enum_type() != nullptr) {
    std::vector<std::string> names;
    for (int i = 0; i < field.enum_type()->value_count(); ++i) {
      const auto& value = *field.enum_type()->value(i);
      const std::string& means = value.options().GetExtension(spec::meaning);
      if (!means.empty()) names.push_back(fmt::format("{}: {}", value.name(), means));
    }
    if (!names.empty()) text += fmt::format(". {}", fmt::join(names, "; "));
  }
  if (!about.unsupported().empty()) {
    text += fmt::format(". **Not supported yet**: {}", about.unsupported());
    if (about.supported_size() > 0)
      text += fmt::format("; supported: {}", fmt::join(about.supported(), ", "));
  }
  if (!about.refused_at_run().empty())
    text += fmt::format(". **Refused by the command**: {}", about.refused_at_run());
  if (!about.no_effect().empty()) text += fmt::format(". **No effect**: {}", about.no_effect());
  const auto* oneof = field.real_containing_oneof();
  if (oneof != nullptr) {
    std::vector<std::string> others;
    for (int i = 0; i < oneof->field_count(); ++i) {
      if (oneof->field(i) != &field) others.push_back(oneof->field(i)->name());
    }
    text += fmt::format(". {} {}", rule_of(*oneof).required() ? "Either this or" : "Excludes",
                        fmt::join(others, ", "));
  }
  return text;
}

class Page {
 public:
  // A root inside another one (a train spec may hold a dataset_convert spec) gets its own chapter only.
  explicit Page(const std::vector<std::pair<std::string, const Descriptor*>>& roots) {
    for (const auto& [title, root] : roots) printed_.insert(root);
    for (const auto& [title, root] : roots) {
      text_ += fmt::format("\n## {}\n", title);
      print_table(*root, "");
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void print_table(const Descriptor& section, const std::string& path) {
    text_ += fmt::format("\n<a id=\"{}\"></a>\n", anchor(section));
    if (!path.empty()) text_ += fmt::format("### `{}`\n\n", path);
    text_ += section_help(section) +
             ".\n\n| field | type | default | allowed | unit | meaning |\n|---|---|---|---|---|---|\n";
    for (int i = 0; i < section.field_count(); ++i) print_row(*section.field(i));
    for (int i = 0; i < section.field_count(); ++i) {
      const FieldDescriptor& field = *section.field(i);
      const Descriptor* inner = inner_section(field);
      if (inner == nullptr || !printed_.insert(inner).second) continue;
      const std::string of = path.empty() ? field.name() : path + "." + field.name();
      print_table(*inner, field.is_map() ? of + "[KEY]" : of);
    }
  }

  void print_row(const FieldDescriptor& field) {
    constexpr int kFirstOwnNumber = 100;
    const FieldRule& about = rule_of(field);
    const Descriptor* inner = inner_section(field);
    const std::string type =
        inner != nullptr ? fmt::format("[{}](#{})", type_text(field), anchor(*inner)) : type_text(field);
    const std::string standard = about.required() ? "required" : default_text(field);
    const bool says_more = inner == nullptr && allowed_text(field) != "true or false" &&
                           allowed_text(field) != "text in quotes" && allowed_text(field) != "a number";
    text_ += fmt::format("| `{}`{} | {} | {} | {} | {} | {} |\n", field.name(),
                         field.number() >= kFirstOwnNumber ? " **+**" : "", type, cell(standard),
                         says_more ? cell(allowed_text(field)) : "", cell(about.unit()),
                         cell(meaning_text(field)));
  }

  std::set<const Descriptor*> printed_;
  std::string text_{kHead};
};

}  // namespace

std::string reference_markdown() {
  Page page({{"Train spec", Experiment::descriptor()},
             {"dataset_convert spec", DatasetExportConfig::descriptor()},
             {"Inference spec", Inference::descriptor()}});
  return page.take();
}

}  // namespace maskfit::spec
