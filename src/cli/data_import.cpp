#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

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

using dataset::LabelFormat;

struct Options {
  std::vector<std::string> paths;
  std::string to, from = "auto", classes, mode = "link", images, check = "decode", unlabelled = "refuse",
                  difficult = "ignore", voc_pixels = "auto";
  int validation_fold = 0;
  bool force = false;
  dataset::ImportOptions import;
};

void check_target(const Options& options) {
  std::error_code ignored;
  if (!options.force && fs::exists(options.to, ignored) && !fs::is_empty(options.to, ignored)) {
    throw base::Error(base::ExitCode::kFailed, "the dataset's folder is not empty", options.to,
                      "give another name, or --force to write a new dataset there");
  }
}

dataset::ImportResult read_records(const Options& options) {
  if (options.images.empty()) {
    throw base::Error(base::ExitCode::kUsage, "TFRecords hold no pictures", "--images",
                      "give the folder that their frame ids start from");
  }
  dataset::ImportResult result;
  const dataset::TfrecordSource source{options.paths.front(), options.images, ""};
  result.dataset = dataset::read_tfrecords(source, options.validation_fold, &result.findings);
  result.classes = dataset::map_classes(result.dataset.samples, options.import.classes, source.glob);
  for (const fs::path& file : dataset::tfrecord_files(source)) {
    result.files.push_back({file.string(), dataset::Outcome::kUsed});
  }
  result.decision = fmt::format("TFRecords; fold {} validates", options.validation_fold);
  result.dataset.class_names.clear();
  dataset::normalise(result.dataset);
  return result;
}

std::string files_line(const dataset::ImportResult& result) {
  return fmt::format("{} files: {} used, {} repaired, {} refused", result.files.size(),
                     result.count(dataset::Outcome::kUsed), result.count(dataset::Outcome::kRepaired),
                     result.count(dataset::Outcome::kRefused));
}

int run(Options& options) {
  check_target(options);
  options.import.classes = dataset::ClassMap(options.classes);
  options.import.decode_pictures = options.check == "decode";
  options.import.unlabelled_as_background = options.unlabelled == "background";
  options.import.difficult_as_object = options.difficult == "keep";
  using formats::VocPixels;
  options.import.voc_pixels = options.voc_pixels == "edges"       ? VocPixels::kEdges
                              : options.voc_pixels == "inclusive" ? VocPixels::kOneBasedInclusive
                                                                  : VocPixels::kAuto;
  options.import.from = options.from == "voc"     ? LabelFormat::kVoc
                        : options.from == "kitti" ? LabelFormat::kKitti
                                                  : LabelFormat::kAuto;
  dataset::ImportResult result =
      options.from == "tfrecord"
          ? read_records(options)
          : dataset::import_folders({options.paths.begin(), options.paths.end()}, options.import);
  result.dataset.root = options.to;
  if (options.mode == "copy") dataset::copy_pictures(result.dataset);
  dataset::write_dataset(result.dataset, result.findings,
                         fmt::format("imported from {}: {}; {}", fmt::join(options.paths, ", "),
                                     result.decision, files_line(result)));

  log_findings(result.findings, (fs::path(options.to) / "findings.jsonl").string());
  std::cout << result.decision << "\n" << files_line(result) << "\n\n";
  for (const auto& [source, targets] : result.classes) {
    for (const auto& [target, boxes] : targets)
      std::cout << fmt::format("{} -> {}: {} boxes\n", source, target, boxes);
  }
  std::cout << "\n" << split_table(result.dataset) << "\nwritten to " << options.to << "\n";
  return 0;
}

}  // namespace

Command data_import_command() {
  return {
      "data import", "Make a dataset from folders of pictures and labels, every file accounted for",
      [](CLI::App& app) -> std::function<int()> {
        auto o = std::make_shared<Options>();
        app.add_option("PATH", o->paths, "Folders of pictures and labels; a glob with --from tfrecord")
            ->required();
        app.add_option("--to", o->to, "Folder of the new dataset")->required();
        app.add_option("--from", o->from, "Format of the labels: auto, voc, kitti, tfrecord")
            ->check(CLI::IsMember({"auto", "voc", "kitti", "tfrecord"}))
            ->capture_default_str();
        app.add_option("--classes", o->classes, "a=b,c=ignore,d,*: what becomes of the labels' classes");
        app.add_option("--mode", o->mode, "link refers to the pictures where they are, copy copies them")
            ->check(CLI::IsMember({"link", "copy"}))
            ->capture_default_str();
        app.add_option("--val-percent", o->import.split.val_percent,
                       "Part to validate on, where no folder is named train, val or test")
            ->capture_default_str();
        app.add_option("--seed", o->import.split.seed, "Of the draw of that part")->capture_default_str();
        app.add_option("--split", o->import.into_split, "Put everything into one split: train, val, test")
            ->check(CLI::IsMember({"train", "val", "test"}));
        app.add_option("--unlabelled", o->unlabelled,
                       "Pictures without a label file: refuse, or take as background")
            ->check(CLI::IsMember({"refuse", "background"}))
            ->capture_default_str();
        app.add_option("--difficult", o->difficult, "Objects that VOC labels call difficult: ignore or keep")
            ->check(CLI::IsMember({"ignore", "keep"}))
            ->capture_default_str();
        app.add_option("--voc-pixels", o->voc_pixels,
                       "VOC coordinates: edges, inclusive (counted from 1), auto")
            ->check(CLI::IsMember({"auto", "edges", "inclusive"}))
            ->capture_default_str();
        app.add_option("--check", o->check, "Look at pictures by decoding them, or at their header only")
            ->check(CLI::IsMember({"decode", "header"}))
            ->capture_default_str();
        app.add_option("--images", o->images, "Folder of the pictures, with --from tfrecord");
        app.add_option("--validation-fold", o->validation_fold, "Fold that validates, with --from tfrecord")
            ->capture_default_str();
        app.add_flag("--force", o->force, "Write into a folder that is not empty");
        return [o] { return run(*o); };
      }};
}

}  // namespace maskfit::cli
