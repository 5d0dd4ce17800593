// maskfit spec check|show|defaults|reference: spec files without running anything.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "spec/defaults.h"
#include "spec/load.h"
#include "spec/print.h"
#include "spec/recipes.h"
#include "spec/reference.h"
#include "spec/set_field.h"

namespace maskfit::cli {
namespace {

using base::ExitCode;

// Calls `use(loaded)` with the kind of spec that the file is.
template <typename Use>
auto with_spec(const std::string& path, const std::vector<std::string>& class_names, Use use) {
  const std::string text = base::read_file(path);
  switch (spec::sniff_kind(text, path)) {
    case spec::Kind::kDatasetExport:
      return use(spec::read_dataset_export(text, path), spec::Kind::kDatasetExport);
    case spec::Kind::kInference:
      return use(spec::read_inference(text, path), spec::Kind::kInference);
    case spec::Kind::kExperiment:
      break;
  }
  return use(spec::read_experiment(text, path, class_names), spec::Kind::kExperiment);
}

// ---- check ----

struct CheckArguments {
  std::vector<std::string> files;
  bool as_json = false;
  bool for_run = false;
};

std::string_view severity_name(base::Severity severity) {
  return severity == base::Severity::kRefused ? "error" : "warning";
}

// As compilers write it, so that editors jump to the place.
std::string line_of(const base::Finding& finding) {
  base::Finding place{finding.severity, finding.file, finding.line, "", "", ""};
  place.column = finding.column;
  const std::string field = finding.field.empty() ? "" : finding.field + ": ";
  const std::string remedy = finding.remedy.empty() ? "" : "; " + finding.remedy;
  return fmt::format("{}{}: {}{}{}\n", base::to_string(place), severity_name(finding.severity), field,
                     finding.what, remedy);
}

nlohmann::json json_of(const base::Finding& finding) {
  return {{"severity", severity_name(finding.severity)},
          {"file", finding.file},
          {"line", finding.line},
          {"column", finding.column},
          {"field", finding.field},
          {"what", finding.what},
          {"remedy", finding.remedy}};
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

struct Checked {
  std::string kind;  // "train spec"; "" when the file could not be read or is no spec
  base::Findings findings;
  ExitCode code = ExitCode::kDone;
};

// A file that cannot be read is a finding like any other: the files after it are checked all the same.
Checked check_file(const std::string& file, spec::Purpose purpose) {
  try {
    return with_spec(file, {}, [&](const auto& loaded, spec::Kind kind) {
      const base::Findings findings = spec::check_loaded(loaded, {.purpose = purpose});
      return Checked{std::string(spec::kind_name(kind)), findings,
                     spec::has_refused(findings) ? ExitCode::kRefused : ExitCode::kDone};
    });
  } catch (const base::Error& error) {
    return {"", {{base::Severity::kRefused, file, 0, "", error.what(), error.hint()}}, error.code()};
  }
}

int check(const CheckArguments& arguments) {
  const spec::Purpose purpose = arguments.for_run ? spec::Purpose::kRun : spec::Purpose::kCheck;
  ExitCode worst = ExitCode::kDone;
  nlohmann::json report = nlohmann::json::array();
  for (const std::string& file : arguments.files) {
    const auto [kind, findings, code] = check_file(file, purpose);
    worst = std::max(worst, code);
    const auto errors = static_cast<std::size_t>(std::count_if(
        findings.begin(), findings.end(),
        [](const base::Finding& finding) { return finding.severity == base::Severity::kRefused; }));
    nlohmann::json listed = nlohmann::json::array();
    for (const base::Finding& finding : findings) {
      listed.push_back(json_of(finding));
      if (!arguments.as_json) std::cout << line_of(finding);
    }
    if (!arguments.as_json) {
      std::cout << fmt::format("{}: {} {}, {}, {}\n", file, errors > 0 ? "invalid" : "valid",
                               kind.empty() ? "file" : kind, counted(errors, "error"),
                               counted(findings.size() - errors, "warning"));
    }
    report.push_back({{"file", file}, {"kind", kind}, {"valid", errors == 0}, {"findings", listed}});
  }
  if (arguments.as_json) std::cout << report.dump(2) << '\n';
  return static_cast<int>(worst);
}

// ---- show ----

struct ShowArguments {
  std::string file;
  std::vector<std::string> changes;
  std::vector<std::string> class_names;
  bool plain = false;
};

void require_names(const std::vector<std::string>& class_names) {
  std::set<std::string> seen;
  for (const std::string& name : class_names) {
    if (name.empty()) throw base::Error(ExitCode::kUsage, "a class has no name", "--class");
    if (!seen.insert(name).second) {
      throw base::Error(ExitCode::kUsage, fmt::format("the class '{}' is given twice", name), "--class",
                        "leave one of them away");
    }
  }
}

int show(const ShowArguments& arguments) {
  require_names(arguments.class_names);
  return with_spec(arguments.file, arguments.class_names, [&](auto loaded, spec::Kind kind) {
    for (const std::string& change : arguments.changes) {
      for (base::Finding& finding : spec::set_field(&loaded.spec, change, &loaded.source)) {
        loaded.findings.push_back(std::move(finding));
      }
    }
    spec::throw_if_refused(spec::check_loaded(loaded));
    spec::apply_defaults(&loaded.spec);
    if (!arguments.plain) {
      std::cout << fmt::format("# Effective {} of {}\n# digest {}\n", spec::kind_name(kind), arguments.file,
                               spec::digest(loaded.spec));
    }
    std::cout << spec::to_text(loaded.spec, {.comments = !arguments.plain, .all_fields = !arguments.plain});
    return static_cast<int>(ExitCode::kDone);
  });
}

// ---- defaults ----

struct DefaultsArguments {
  std::string recipe = "scratch";
  std::vector<std::string> class_names = {"mask", "no-mask"};
};

int defaults(const DefaultsArguments& arguments) {
  require_names(arguments.class_names);
  const auto recipe = arguments.recipe == "tlt" ? spec::TrainingConfig::TLT : spec::TrainingConfig::SCRATCH;
  spec::Experiment experiment = spec::recipe_experiment(recipe, arguments.class_names);
  spec::apply_defaults(&experiment);
  std::cout << fmt::format("# The recipe \"{}\" with every default\n", arguments.recipe)
            << spec::to_text(experiment);
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace

Command spec_check_command() {
  return {
      "spec check", "Everything that is wrong with a spec file, with line, column and remedy",
      [](CLI::App& app) -> std::function<int()> {
        auto arguments = std::make_shared<CheckArguments>();
        app.add_option("FILE", arguments->files, "Spec files of train, dataset_convert or infer")->required();
        app.add_flag("--json", arguments->as_json, "Print a list of objects instead of lines");
        app.add_flag("--for-run", arguments->for_run,
                     "Also refuse what the command that uses the spec would refuse as not supported yet");
        return [arguments] { return check(*arguments); };
      }};
}

Command spec_show_command() {
  return {
      "spec show", "A spec file with every default filled in, as a run would use it",
      [](CLI::App& app) -> std::function<int()> {
        auto arguments = std::make_shared<ShowArguments>();
        app.add_option("FILE", arguments->file, "Spec file of train, dataset_convert or infer")->required();
        app.add_option(
               "--set", arguments->changes,
               "Change a field, for example training_config.num_epochs=5; --set again for another one")
            ->allow_extra_args(false)
            ->option_text("PATH=VALUE");
        app.add_option("--class", arguments->class_names,
                       "Class of the dataset, for a train spec that names a recipe and no classes")
            ->allow_extra_args(false)
            ->option_text("NAME");
        app.add_flag("--plain", arguments->plain,
                     "No comments, and only fields that are not 0, false or empty");
        return [arguments] { return show(*arguments); };
      }};
}

Command spec_defaults_command() {
  return {"spec defaults", "A complete train spec to start from", [](CLI::App& app) -> std::function<int()> {
            auto arguments = std::make_shared<DefaultsArguments>();
            app.add_option("--recipe", arguments->recipe,
                           "scratch: from random weights; tlt: the reference's losses and schedule")
                ->check(CLI::IsMember({"scratch", "tlt"}))
                ->capture_default_str();
            app.add_option("--class", arguments->class_names,
                           "Class to detect; --class again for another one. Default: mask and no-mask")
                ->allow_extra_args(false)
                ->option_text("NAME");
            return [arguments] { return defaults(*arguments); };
          }};
}

Command spec_reference_command() {
  return {"spec reference", "docs/spec-reference.md: every field of every kind of spec",
          [](CLI::App&) -> std::function<int()> {
            return [] {
              std::cout << spec::reference_markdown();
              return static_cast<int>(ExitCode::kDone);
            };
          }};
}

}  // namespace maskfit::cli
