#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "cli/work_progress.h"
#include "dataset/import.h"
#include "dataset/picture_cache.h"
#include "dataset/tfrecords.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

using dataset::LabelFormat;

struct FormatOption {
  const char* option;
  LabelFormat format;
};
constexpr std::array<FormatOption, 10> kFormats = {{{"auto", LabelFormat::kAuto},
                                                    {"voc", LabelFormat::kVoc},
                                                    {"yolo", LabelFormat::kYolo},
                                                    {"coco", LabelFormat::kCoco},
                                                    {"csv", LabelFormat::kCsv},
                                                    {"kitti", LabelFormat::kKitti},
                                                    {"labelme", LabelFormat::kLabelme},
                                                    {"mafa", LabelFormat::kMafa},
                                                    {"widerface", LabelFormat::kWider},
                                                    {"fddb", LabelFormat::kFddb}}};
constexpr const char* kTfrecord = "tfrecord";

struct Options {
  std::vector<std::string> paths;
  std::string to, from = "auto", classes, mode = "link", images, check = "decode", unlabelled = "refuse",
                  difficult = "ignore", voc_pixels = "auto", rules = "correct";
  std::optional<int> max_blur, max_occlusion, mask_degree;
  float min_face = 0;
  int validation_fold = 0;
  bool force = false;
  dataset::ImportOptions import;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatOption& format : kFormats) names.emplace_back(format.option);
  names.emplace_back(kTfrecord);
  return names;
}

// What an import writes; the head, dataset.json, comes last.
constexpr const char* kWritten[] = {"images", "files.jsonl", "samples.jsonl", "findings.jsonl"};

// Throws where the dataset's folder holds something and --force is not given. What an import that was killed
// leaves behind (it has a cache and no head) is no obstacle to the next. Returns whether all that will be in
// the folder is this import's.
bool check_target(const Options& options) {
  std::error_code ignored;
  const fs::path folder = options.to;
  const bool stopped = fs::exists(folder / dataset::kPictureCacheName, ignored) &&
                       !fs::exists(folder / "dataset.json", ignored);
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool leaving = name == dataset::kPictureCacheName || name.starts_with(".tmp") ||
                         std::find(std::begin(kWritten), std::end(kWritten), name) != std::end(kWritten);
    if (stopped && leaving) continue;
    if (options.force) return false;
    throw base::Error(base::ExitCode::kFailed, "the dataset's folder is not empty", options.to,
                      "give another name, or --force to write a new dataset there");
  }
  return true;
}

// Where the records are, if they are to be imported.
std::optional<dataset::TfrecordSource> record_source(const Options& options) {
  if (options.from != kTfrecord && options.from != "auto") return std::nullopt;
  auto source = options.paths.size() == 1 ? dataset::find_tfrecords(options.paths.front()) : std::nullopt;
  if (!source && options.from == kTfrecord) {
    if (options.paths.size() > 1) {
      throw base::Error(base::ExitCode::kUsage, "TFRecords are imported from one place at a time",
                        options.paths[1], "give one folder, one file or a glob in quotes");
    }
    source = dataset::TfrecordSource{options.paths.front(), {}, ""};
  }
  if (!source) return std::nullopt;
  if (!options.images.empty()) source->image_directory = options.images;
  if (source->image_directory.empty()) {
    throw base::Error(base::ExitCode::kUsage, "TFRecords hold no pictures", "--images",
                      "give the folder that their frame ids start from");
  }
  return source;
}

dataset::ImportResult read_records(const Options& options, const dataset::TfrecordSource& source) {
  dataset::ImportResult result;
  result.dataset = dataset::read_tfrecords(source, options.validation_fold, &result.findings);
  result.classes = dataset::map_classes(result.dataset.samples, options.import.classes, source.glob);
  for (const fs::path& file : dataset::tfrecord_files(source)) {
    result.files.push_back({file.string(), dataset::Outcome::kUsed, "TFRecord"});
  }
  result.decision = fmt::format("TFRecords; fold {} validates", options.validation_fold);
  result.dataset.class_names.clear();
  dataset::normalise(result.dataset);
  return result;
}

// After a failure: takes away what this import has made. One that was interrupted leaves what it has learnt
// of the pictures to the next.
void clean_up(const fs::path& folder, bool interrupted) {
  std::error_code ignored;
  for (const char* name : kWritten) fs::remove_all(folder / name, ignored);
  if (!interrupted) fs::remove(folder / dataset::kPictureCacheName, ignored);
  fs::remove(folder, ignored);  // only when it is empty
}

std::string files_line(const dataset::ImportResult& result) {
  return fmt::format("{} files: {} used, {} repaired, {} refused", result.files.size(),
                     result.count(dataset::Outcome::kUsed), result.count(dataset::Outcome::kRepaired),
                     result.count(dataset::Outcome::kRefused));
}

dataset::FaceRules rules_from(const Options& options) {
  using dataset::RulePreset;
  dataset::FaceRules rules = dataset::rules_of(options.rules == "reference" ? RulePreset::kReference
                                               : options.rules == "all"     ? RulePreset::kAll
                                                                            : RulePreset::kCorrect);
  rules.max_blur = options.max_blur.value_or(rules.max_blur);
  rules.max_occlusion = options.max_occlusion.value_or(rules.max_occlusion);
  rules.mask_degree = options.mask_degree.value_or(rules.mask_degree);
  rules.min_face = options.min_face;
  return rules;
}

void fill_import_options(Options& options) {
  dataset::ImportOptions& import = options.import;
  import.classes = dataset::ClassMap(options.classes);
  import.decode_pictures = options.check == "decode";
  import.unlabelled_as_background = options.unlabelled == "background";
  import.difficult_as_object = options.difficult == "keep";
  using formats::VocPixels;
  import.voc_pixels = options.voc_pixels == "edges"       ? VocPixels::kEdges
                      : options.voc_pixels == "inclusive" ? VocPixels::kOneBasedInclusive
                                                          : VocPixels::kAuto;
  for (const FormatOption& format : kFormats) {
    if (options.from == format.option) import.from = format.format;
  }
  import.rules = rules_from(options);
  import.cache = fs::path(options.to) / dataset::kPictureCacheName;
  import.stop = base::interrupt_token();
}

void print_result(const Options& options, const dataset::ImportResult& result, bool records) {
  std::cout << result.decision << "\n" << files_line(result) << "\n";
  if (const auto known = static_cast<std::int64_t>(result.dataset.samples.size()) - result.decoded;
      options.import.decode_pictures && !records && result.decoded == 0 && known > 0) {
    std::cout << "no picture changed since the last import; none was decoded\n";
  }
  std::cout << "\n";
  for (const auto& [source, targets] : result.classes) {
    for (const auto& [target, boxes] : targets)
      std::cout << fmt::format("{} -> {}: {} boxes\n", source, target, boxes);
  }
  for (const auto& [reason, faces] : result.ignored)
    std::cout << fmt::format("ignored, {}: {} boxes\n", reason, faces);
  std::cout << "\n" << split_table(result.dataset) << "\nwritten to " << options.to << "\n";
}

void import_and_write(Options& options) {
  dataset::ImportResult result;
  const auto records = record_source(options);
  if (records) {
    result = read_records(options, *records);
  } else {
    WorkProgress progress("reading", "pictures");
    options.import.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
    result = dataset::import_folders({options.paths.begin(), options.paths.end()}, options.import);
  }
  result.dataset.root = options.to;
  if (options.mode == "copy") {
    WorkProgress progress("copying", "pictures");
    const auto total = static_cast<std::int64_t>(result.dataset.samples.size());
    dataset::copy_pictures(result.dataset, [&](std::int64_t done) {
      options.import.stop.throw_if_requested();
      progress.update(done, total);
    });
  }
  dataset::write_file_records(result.files, fs::path(options.to) / "files.jsonl");
  dataset::write_dataset(result.dataset, result.findings,
                         fmt::format("imported from {}: {}; {}", fmt::join(options.paths, ", "),
                                     result.decision, files_line(result)));
  log_findings(result.findings, (fs::path(options.to) / "findings.jsonl").string());
  print_result(options, result, records.has_value());
}

int run(Options& options) {
  const bool all_ours = check_target(options);
  fill_import_options(options);
  try {
    import_and_write(options);
  } catch (const base::Error& error) {
    if (all_ours) clean_up(options.to, error.code() == base::ExitCode::kInterrupted);
    throw;
  }
  return 0;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("PATH", o.paths,
                 "Folders of pictures and labels; or a folder, a file or a quoted glob of TFRecords")
      ->required();
  app.add_option("--to", o.to, "Folder of the new dataset")->required();
  app.add_option("--from", o.from, "Format of the labels; auto finds it out and reads whatever is there")
      ->check(CLI::IsMember(format_names()))
      ->capture_default_str();
  app.add_option("--classes", o.classes, "a=b,c=ignore,d,*: what becomes of the labels' classes");
  app.add_option("--mode", o.mode, "link refers to the pictures where they are, copy copies them")
      ->check(CLI::IsMember({"link", "copy"}))
      ->capture_default_str();
  app.add_option("--val-percent", o.import.split.val_percent,
                 "Part to validate on, where no folder is named train, val or test")
      ->capture_default_str();
  app.add_option("--seed", o.import.split.seed, "Of the draw of that part")->capture_default_str();
  app.add_option("--split", o.import.into_split, "Put everything into one split: train, val, test")
      ->check(CLI::IsMember({"train", "val", "test"}));
  app.add_option("--unlabelled", o.unlabelled, "Pictures without a label file: refuse, or take as background")
      ->check(CLI::IsMember({"refuse", "background"}))
      ->capture_default_str();
  app.add_option("--difficult", o.difficult, "Objects that VOC labels call difficult: ignore or keep")
      ->check(CLI::IsMember({"ignore", "keep"}))
      ->capture_default_str();
  app.add_option("--voc-pixels", o.voc_pixels, "VOC coordinates: edges, inclusive (counted from 1), auto")
      ->check(CLI::IsMember({"auto", "edges", "inclusive"}))
      ->capture_default_str();
  app.add_option("--check", o.check, "Look at pictures by decoding them, or at their header only")
      ->check(CLI::IsMember({"decode", "header"}))
      ->capture_default_str();
  app.add_option("--images", o.images, "Folder of the pictures of TFRecords, where it is another one");
  app.add_option("--validation-fold", o.validation_fold, "Fold that validates, with --from tfrecord")
      ->capture_default_str();
  app.add_flag("--force", o.force, "Write into a folder that is not empty");
}

// Which faces count; the others stay in the dataset as regions to ignore.
void add_rule_options(CLI::App& app, Options& o) {
  app.add_option(
         "--rules", o.rules,
         "Faces of MAFA and WIDER FACE that count: correct, reference (what the reference's converter "
         "selects, and the pictures that it leaves out), all")
      ->check(CLI::IsMember({"correct", "reference", "all"}))
      ->capture_default_str();
  app.add_option("--min-face", o.min_face, "Ignore boxes whose shorter side has fewer pixels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--max-blur", o.max_blur, "WIDER FACE: ignore faces of more blur, 0 .. 2 (2)")
      ->check(CLI::Range(0, 2));
  app.add_option("--max-occlusion", o.max_occlusion,
                 "WIDER FACE: ignore faces of more occlusion, 0 .. 2 (0; with --rules all 2)")
      ->check(CLI::Range(0, 2));
  app.add_option("--mask-degree", o.mask_degree,
                 "MAFA: ignore covered faces below this degree, 1 .. 3 (3; with --rules all 1)")
      ->check(CLI::Range(1, 3));
}

}  // namespace

Command data_import_command() {
  return {"data import", "Make a dataset from folders of pictures and labels, every file accounted for",
          [](CLI::App& app) -> std::function<int()> {
            auto o = std::make_shared<Options>();
            add_options(app, *o);
            add_rule_options(app, *o);
            return [o] { return run(*o); };
          }};
}

}  // namespace maskfit::cli
