#pragma once

// Spec files: what kind one is, and what it says.
//
//   auto loaded = spec::load_experiment(path);
//   spec::throw_if_refused(spec::check_loaded(loaded, {.purpose = spec::Purpose::kRun}));
//   spec::apply_defaults(&loaded.spec);

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "spec/check.h"
#include "spec/source.h"

namespace maskfit::spec {

enum class Kind { kExperiment, kDatasetExport, kInference };

// "train spec", "dataset_convert spec", "inference spec".
std::string_view kind_name(Kind kind);

// By the names of the sections, misspelt ones included. Throws base::Error (kRefused) when it is none of the
// three; `file` is for that message.
Kind sniff_kind(std::string_view text, const std::string& file);

template <typename Spec>
struct Loaded {
  Spec spec;
  Source source;            // where each field was set
  base::Findings findings;  // what could not be read; the rest was
};

// Throws base::Error when the file cannot be read at all.
//
// A train spec whose training_config.recipe is TLT or SCRATCH may leave things out: it is laid over that
// recipe (see recipes.h), for its own target_classes or, if it has none, for `class_names`. Any other one is
// complete, as for the reference: nothing is added.
Loaded<Experiment> load_experiment(const std::filesystem::path& path,
                                   const std::vector<std::string>& class_names = {});
Loaded<DatasetExportConfig> load_dataset_export(const std::filesystem::path& path);
Loaded<Inference> load_inference(const std::filesystem::path& path);

// The same from text; `file` names it in findings.
Loaded<Experiment> read_experiment(std::string_view text, const std::string& file,
                                   const std::vector<std::string>& class_names = {});
Loaded<DatasetExportConfig> read_dataset_export(std::string_view text, const std::string& file);
Loaded<Inference> read_inference(std::string_view text, const std::string& file);

// Everything that is wrong with the file: what could not be read, then what check() says of the rest, in the
// file's order.
base::Findings check_loaded(const Loaded<Experiment>& loaded, CheckOptions options = {});
base::Findings check_loaded(const Loaded<DatasetExportConfig>& loaded, CheckOptions options = {});
base::Findings check_loaded(const Loaded<Inference>& loaded, CheckOptions options = {});

}  // namespace maskfit::spec
