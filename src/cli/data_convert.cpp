#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "dataset/import.h"
#include "dataset/tfrecords.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

using Folds = dataset::TfrecordExportOptions::Folds;

struct Options {
  std::string source, to = "tfrecord", boxes = "mended", sequences;
  bool reference_order = false, force = false;
  dataset::TfrecordExportOptions tfrecord;
};

dataset::Dataset open(const Options& options, base::Findings* findings) {
  if (options.boxes == "mended" || dataset::is_dataset(options.source)) {
    return dataset::open_data(options.source, findings);
  }
  dataset::ImportOptions import;
  import.classes = dataset::ClassMap::lower_case();
  import.decode_pictures = false;
  import.mend_boxes = false;
  dataset::ImportResult result = dataset::import_folders({options.source}, import);
  findings->insert(findings->end(), result.findings.begin(), result.findings.end());
  return std::move(result.dataset);
}

// What a spec file for training on the records needs.
std::string spec_text(const Options& options, const dataset::Dataset& dataset,
                      const dataset::TfrecordExport& written) {
  const fs::path prefix = fs::absolute(options.tfrecord.prefix).lexically_normal();
  std::string text = fmt::format(
      "dataset_config {{\n"
      "  data_sources {{ tfrecords_path: \"{}-*\" image_directory_path: \"{}\" }}\n"
      "  image_extension: \"{}\"\n",
      prefix.string(), written.image_directory.string(), written.image_extension);
  for (const std::string& name : dataset.class_names) {
    text += fmt::format("  target_class_mapping {{ key: \"{0}\" value: \"{0}\" }}\n", name);
  }
  return text + "  validation_fold: 0\n}\n";
}

int run(Options& options) {
  options.tfrecord.folds = !options.sequences.empty() ? Folds::kSequences
                           : options.reference_order  ? Folds::kReferenceRandom
                                                      : Folds::kSplits;
  options.tfrecord.sequences_file = options.sequences;
  options.tfrecord.overwrite = options.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse;
  base::Findings findings;
  const dataset::Dataset dataset = open(options, &findings);
  const dataset::TfrecordExport written = dataset::export_tfrecords(dataset, options.tfrecord);
  findings.insert(findings.end(), written.findings.begin(), written.findings.end());
  log_findings(findings, "");

  for (const auto& fold : written.folds) {
    std::cout << fmt::format("fold {}: {} frames in {} files\n", fold.index, fold.frames, fold.files.size());
    for (const auto& [name, n] : fold.objects) std::cout << fmt::format("  {}: {}\n", name, n);
  }
  if (written.dropped_objects > 0) {
    std::cout << fmt::format("{} objects are smaller than a pixel and were left out, see {}_warning.json\n",
                             written.dropped_objects, options.tfrecord.prefix);
  }
  if (written.left_out > 0) std::cout << fmt::format("{} pictures are in no fold\n", written.left_out);
  std::cout << "\n" << spec_text(options, dataset, written);
  return 0;
}

}  // namespace

Command data_convert_command() {
  return {
      "data convert", "Write a dataset as the TFRecords that TLT and TAO train on",
      [](CLI::App& app) -> std::function<int()> {
        auto o = std::make_shared<Options>();
        app.add_option("SOURCE", o->source, "A dataset, or a folder of pictures and labels")->required();
        app.add_option("--to", o->to, "Format to write: tfrecord")
            ->check(CLI::IsMember({"tfrecord"}))
            ->capture_default_str();
        app.add_option("-o,--out", o->tfrecord.prefix, "Folder and beginning of the file names")->required();
        app.add_option("--shards", o->tfrecord.num_shards,
                       "Files a fold; 0: one, without a shard in its name")
            ->check(CLI::Range(0, 99999))
            ->capture_default_str();
        app.add_option("--seed", o->tfrecord.seed, "Of the order of the frames")->capture_default_str();
        auto* compat =
            app.add_flag("--compat-split", o->reference_order,
                         "Part and order the frames as the reference's converter does (by name, not by the "
                         "dataset's split)");
        app.add_option("--val-percent", o->tfrecord.val_percent, "Part of fold 0, with --compat-split")
            ->check(CLI::Range(0.0, 100.0))
            ->needs(compat)
            ->capture_default_str();
        auto* sequences =
            app.add_option("--sequences", o->sequences,
                           "JSON file {\"sequence\": [\"frame\", ...]}: keep sequences in one fold")
                ->excludes(compat);
        app.add_option("--folds", o->tfrecord.num_folds, "Number of folds, with --sequences")
            ->check(CLI::Range(0, 999))
            ->needs(sequences)
            ->capture_default_str();
        app.add_option("--boxes", o->boxes, "Boxes of a folder: mended (cut to the picture), or as-written")
            ->check(CLI::IsMember({"mended", "as-written"}))
            ->capture_default_str();
        app.add_flag("--force", o->force, "Replace the files of an earlier conversion with this name");
        return [o] { return run(*o); };
      }};
}

}  // namespace maskfit::cli
