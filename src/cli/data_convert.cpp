#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "cli/work_progress.h"
#include "dataset/export_labels.h"
#include "dataset/export_staging.h"
#include "dataset/import.h"
#include "dataset/tfrecord_spec.h"
#include "dataset/tfrecords.h"
#include "spec/check.h"
#include "spec/load.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

using dataset::ExportOptions;
using Folds = dataset::TfrecordExportOptions::Folds;

struct Options {
  std::string source, to = "tfrecord", out, boxes = "mended", sequences, pictures = "link", spec;
  bool reference_order = false, force = false, skip_bad = false;
  std::optional<int> validation_fold;
  dataset::TfrecordExportOptions tfrecord;
};

// A folder's classes stay as they are, except for TFRecords, which hold lower case.
dataset::Dataset open(const Options& options, base::Findings* findings) {
  if (dataset::is_dataset(options.source) || options.source.find('@') != std::string::npos)
    return dataset::open_data(options.source, findings);
  dataset::ImportOptions import;
  import.classes = options.to == "tfrecord" ? dataset::ClassMap::lower_case() : dataset::ClassMap("*");
  import.decode_pictures = false;
  import.mend_boxes = options.boxes == "mended";
  dataset::ImportResult result = dataset::import_folders({options.source}, import);
  findings->insert(findings->end(), result.findings.begin(), result.findings.end());
  return std::move(result.dataset);
}

// What a spec file for training on the records needs.
std::string spec_text(const std::string& to, const dataset::Dataset& dataset,
                      const dataset::TfrecordExport& written) {
  const fs::path prefix = fs::absolute(to).lexically_normal();
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

int report_records(const std::string& prefix, const dataset::Dataset& dataset,
                   const dataset::TfrecordExport& written) {
  log_findings(written.findings, "");
  for (const auto& fold : written.folds) {
    std::cout << fmt::format("fold {}: {} frames in {} files\n", fold.index, fold.frames, fold.files.size());
    if (fold.filtered > 0 || fold.copies > 0) {
      std::cout << fmt::format("  the sample modifier left out {} pictures and added {} copies\n",
                               fold.filtered, fold.copies);
    }
    for (const auto& [name, n] : fold.objects) std::cout << fmt::format("  {}: {}\n", name, n);
  }
  if (written.dropped_objects > 0) {
    std::cout << fmt::format("{} objects are smaller than a pixel and were left out, see {}_warning.json\n",
                             written.dropped_objects, prefix);
  }
  if (written.left_out > 0) std::cout << fmt::format("{} pictures are in no fold\n", written.left_out);
  std::cout << "\n" << spec_text(prefix, dataset, written);
  return 0;
}

int write_records(Options& options, const dataset::Dataset& dataset) {
  options.tfrecord.prefix = options.out;
  options.tfrecord.folds = !options.sequences.empty() ? Folds::kSequences
                           : options.reference_order  ? Folds::kReferenceRandom
                                                      : Folds::kSplits;
  options.tfrecord.sequences_file = options.sequences;
  options.tfrecord.overwrite = options.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse;
  return report_records(options.out, dataset, dataset::export_tfrecords(dataset, options.tfrecord));
}

// The reference's dataset_convert.
int convert_spec(const Options& options) {
  auto loaded = spec::load_dataset_export(options.spec);
  spec::throw_if_refused(spec::check_loaded(loaded, {.purpose = spec::Purpose::kRun}));
  dataset::TfrecordSpecOptions spec_options;
  spec_options.prefix = options.out;
  spec_options.validation_fold = options.validation_fold;
  spec_options.base = fs::absolute(options.spec).parent_path();
  spec_options.reference_order = options.reference_order;
  spec_options.skip_bad_labels = options.skip_bad;
  spec_options.seed = options.tfrecord.seed;
  spec_options.overwrite = options.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse;
  const dataset::TfrecordSpecResult result = dataset::export_tfrecords(loaded.spec, spec_options);
  return report_records(options.out, result.dataset, result.written);
}

int write_labels(const Options& options, const dataset::Dataset& dataset) {
  ExportOptions export_options;
  export_options.folder = options.out;
  export_options.format = dataset::export_format_from_name(options.to);
  export_options.pictures = options.pictures == "copy"   ? ExportOptions::Pictures::kCopy
                            : options.pictures == "none" ? ExportOptions::Pictures::kNone
                                                         : ExportOptions::Pictures::kLink;
  export_options.overwrite = options.force ? base::Overwrite::kAllow : base::Overwrite::kRefuse;
  export_options.stop = base::interrupt_token();
  dataset::ExportResult result;
  {
    WorkProgress progress("converting", "pictures");
    export_options.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
    result = dataset::export_labels(dataset, export_options);
  }
  std::cout << split_table(dataset) << "\n";
  std::cout << fmt::format("{} label files\n", result.label_files);
  if (result.losses.empty()) std::cout << "everything in the dataset has a place in this format\n";
  for (const dataset::ExportLoss& loss : result.losses) {
    std::cout << fmt::format("not carried: {} ({}, the first in {})\n", loss.what, loss.count, loss.example);
  }
  if (result.turned > 0) {
    std::cout << fmt::format(
        "{} pictures are turned by their EXIF entry; the labels fit the upright picture\n", result.turned);
  }
  std::cout << "written to " << options.out << "\n";
  return 0;
}

int run(Options& options) {
  if (options.spec.empty() == options.source.empty()) {
    throw base::Error(base::ExitCode::kUsage, "one thing to convert is needed", "SOURCE",
                      "give a dataset or folder, or --spec with a dataset_convert spec");
  }
  if (!options.spec.empty()) return convert_spec(options);
  base::Findings findings;
  const bool records = options.to == "tfrecord";
  std::error_code ignored;
  if (!records && fs::is_directory(options.source, ignored))
    dataset::check_apart(options.source, options.out);
  const dataset::Dataset dataset = open(options, &findings);
  log_findings(findings, "");
  return records ? write_records(options, dataset) : write_labels(options, dataset);
}

void declare_record_options(CLI::App& app, Options& o) {
  app.add_option("--shards", o.tfrecord.num_shards,
                 "tfrecord: files a fold; 0: one, without a shard in its name")
      ->check(CLI::Range(0, 99999))
      ->capture_default_str();
  app.add_option("--seed", o.tfrecord.seed, "tfrecord: of the order of the frames")->capture_default_str();
  auto* compat = app.add_flag("--compat-split", o.reference_order,
                              "tfrecord: part and order the frames as the reference's converter does (by "
                              "name, not by the dataset's split)");
  app.add_option("--val-percent", o.tfrecord.val_percent, "tfrecord: part of fold 0, with --compat-split")
      ->check(CLI::Range(0.0, 100.0))
      ->needs(compat)
      ->capture_default_str();
  auto* sequences =
      app.add_option("--sequences", o.sequences,
                     R"(tfrecord: JSON file {"sequence": ["frame", ...]}: keep sequences in one fold)")
          ->excludes(compat);
  app.add_option("--folds", o.tfrecord.num_folds, "tfrecord: number of folds, with --sequences")
      ->check(CLI::Range(0, 999))
      ->needs(sequences)
      ->capture_default_str();
}

}  // namespace

Command data_convert_command() {
  return {"data convert", "Write a dataset in another format: KITTI, VOC, YOLO, COCO, TFRecords",
          [](CLI::App& app) -> std::function<int()> {
            auto o = std::make_shared<Options>();
            app.add_option("SOURCE", o->source, "A dataset, or a folder of pictures and labels");
            auto* to = app.add_option("--to", o->to, "Format to write: kitti, voc, yolo, coco, tfrecord")
                           ->check(CLI::IsMember({"kitti", "voc", "yolo", "coco", "tfrecord"}))
                           ->capture_default_str();
            app.add_option("-o,--out", o->out,
                           "Folder to write; with tfrecord the folder and beginning of the file names")
                ->required();
            app.add_option("--pictures", o->pictures,
                           "Pictures beside the labels: link (hard, else symbolic), copy, none; not for "
                           "tfrecord")
                ->check(CLI::IsMember({"link", "copy", "none"}))
                ->capture_default_str();
            app.add_option("--boxes", o->boxes,
                           "Boxes of a folder: mended (cut to the picture), or as-written")
                ->check(CLI::IsMember({"mended", "as-written"}))
                ->capture_default_str();
            declare_record_options(app, *o);
            auto* spec = app.add_option("--spec", o->spec,
                                        "A dataset_convert spec of TLT or TAO instead of SOURCE: its KITTI "
                                        "folder or COCO files become TFRecords")
                             ->excludes(to);
            app.add_option("-f,--validation-fold", o->validation_fold,
                           "--spec: fold that the sample modifier leaves as it is")
                ->check(CLI::Range(0, 999))
                ->needs(spec);
            app.add_flag("--skip-bad", o->skip_bad,
                         "--spec: leave out label lines that cannot be read, and pictures without labels")
                ->needs(spec);
            app.add_flag("--force", o->force, "Replace what an earlier conversion wrote there");
            return [o] { return run(*o); };
          }};
}

}  // namespace maskfit::cli
