#include "spec/load.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "spec/recipes.h"
#include "spec/text_lexer.h"
#include "spec/text_parser.h"

namespace maskfit::spec {
namespace {

// Names at the top level, in order.
std::vector<std::string> section_names(std::string_view text) {
  std::vector<std::string> names;
  TextLexer lexer(text, [](int, int, const std::string&) {});
  int depth = 0;
  std::string word;
  for (; lexer.current().kind != TokenKind::kEnd; lexer.next()) {
    const Token& token = lexer.current();
    const bool opens = token.text == "{" || token.text == "<";
    const bool closes = token.text == "}" || token.text == ">";
    if (depth == 0 && !word.empty() && (opens || token.text == ":")) {
      names.push_back(word);
      word.clear();
    } else if (depth == 0 && token.kind == TokenKind::kWord) {
      word = token.text;
    }
    if (token.kind != TokenKind::kSymbol) continue;
    if (opens) ++depth;
    if (closes && depth > 0) --depth;
  }
  return names;
}

// 2 for a known name, 1 for one that is near a known one.
int score(const std::vector<std::string>& names, const google::protobuf::Descriptor& root) {
  std::vector<std::string> known;
  for (int i = 0; i < root.field_count(); ++i) known.push_back(root.field(i)->name());
  int total = 0;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      total += 2;
    } else if (!base::nearest_name(name, known).empty()) {
      total += 1;
    }
  }
  return total;
}

template <typename Spec>
Loaded<Spec> read(std::string_view text, const std::string& file) {
  Loaded<Spec> loaded{{}, Source(file), {}};
  parse_text(text, &loaded.spec, &loaded.source, &loaded.findings);
  return loaded;
}

template <typename Spec>
base::Findings check_both(const Loaded<Spec>& loaded, CheckOptions options) {
  if (!loaded.findings.empty()) options.incomplete = true;
  base::Findings findings = loaded.findings;
  for (base::Finding& finding : check(loaded.spec, loaded.source, options))
    findings.push_back(std::move(finding));
  sort_by_place(&findings);
  return findings;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kExperiment:
      return "train spec";
    case Kind::kDatasetExport:
      return "dataset_convert spec";
    case Kind::kInference:
      return "inference spec";
  }
  return "";
}

Kind sniff_kind(std::string_view text, const std::string& file) {
  const std::vector<std::string> names = section_names(text);
  const std::array<std::pair<Kind, int>, 3> scores{{
      {Kind::kExperiment, score(names, *Experiment::descriptor())},
      {Kind::kDatasetExport, score(names, *DatasetExportConfig::descriptor())},
      {Kind::kInference, score(names, *Inference::descriptor())},
  }};
  const auto best = std::max_element(scores.begin(), scores.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best->second == 0) {
    throw base::Error(
        base::ExitCode::kRefused,
        names.empty() ? "not a spec file: it has no sections"
                      : fmt::format("not a spec file: {} is no section of any spec", names.front()),
        file,
        "a train spec has training_config { ... }, a dataset_convert spec kitti_config { ... }, an "
        "inference spec inferencer_config { ... }");
  }
  return best->first;
}

Loaded<Experiment> read_experiment(std::string_view text, const std::string& file,
                                   const std::vector<std::string>& class_names) {
  Loaded<Experiment> loaded = read<Experiment>(text, file);
  const TrainingConfig::Recipe recipe = loaded.spec.training_config().recipe();
  if (recipe == TrainingConfig::COMPLETE) return loaded;

  std::vector<std::string> classes;
  for (const auto& target : loaded.spec.cost_function_config().target_classes())
    classes.push_back(target.name());
  if (classes.empty()) classes = class_names;
  Loaded<Experiment> completed{recipe_experiment(recipe, classes), Source(file), {}};
  parse_text(text, &completed.spec, &completed.source, &completed.findings, ParseMode::kOverlay);
  return completed;
}

Loaded<DatasetExportConfig> read_dataset_export(std::string_view text, const std::string& file) {
  return read<DatasetExportConfig>(text, file);
}

Loaded<Inference> read_inference(std::string_view text, const std::string& file) {
  return read<Inference>(text, file);
}

Loaded<Experiment> load_experiment(const std::filesystem::path& path,
                                   const std::vector<std::string>& class_names) {
  return read_experiment(base::read_file(path), path.string(), class_names);
}

Loaded<DatasetExportConfig> load_dataset_export(const std::filesystem::path& path) {
  return read_dataset_export(base::read_file(path), path.string());
}

Loaded<Inference> load_inference(const std::filesystem::path& path) {
  return read_inference(base::read_file(path), path.string());
}

base::Findings check_loaded(const Loaded<Experiment>& loaded, CheckOptions options) {
  // A spec that builds on a recipe leaves the pictures to the command.
  if (loaded.spec.training_config().recipe() != TrainingConfig::COMPLETE) options.data_from_elsewhere = true;
  return check_both(loaded, options);
}

base::Findings check_loaded(const Loaded<DatasetExportConfig>& loaded, CheckOptions options) {
  return check_both(loaded, options);
}

base::Findings check_loaded(const Loaded<Inference>& loaded, CheckOptions options) {
  return check_both(loaded, options);
}

}  // namespace maskfit::spec
