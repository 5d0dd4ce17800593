#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "audit/audit.h"
#include "audit/page.h"
#include "audit/repair.h"
#include "audit/to_json.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/data_report.h"
#include "cli/model_eyes.h"
#include "cli/picture_size.h"
#include "cli/stage_progress.h"
#include "dataset/picture_cache.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string path, report, size = "960x544", canvas = "stretch", sources = "auto", model, device = "cpu";
  double confidence = 0.6;
  int stride = 16, examples = 3;
  bool json = false, fix = false, undo = false, no_cache = false;
};

void print(const audit::Audit& audit, const dataset::Dataset& data, int examples) {
  std::cout << fmt::format("{} pictures, {} sources ({})\n", data.samples.size(), audit.sources.names.size(),
                           audit.sources.decision);
  for (const audit::Issue& issue : audit.issues) {
    const audit::KindInfo& kind = audit::info(issue.kind);
    std::cout << fmt::format("\n{:7}  {} ({}): {}\n", audit::to_string(issue.level), kind.title, kind.name,
                             issue.count());
    for (int i = 0; i < std::min<int>(examples, static_cast<int>(issue.count())); ++i) {
      const audit::Example& example = issue.examples[i];
      std::string names;
      for (std::size_t s = 0; s < std::min<std::size_t>(2, example.samples.size()); ++s)
        names += (s > 0 ? " + " : "") + data.samples[example.samples[s]].id;
      std::cout << fmt::format("           {}{}{}\n", names, names.empty() ? "" : ": ", example.text);
    }
    std::cout << fmt::format("         {}.\n         To do: {}.\n", kind.consequence, kind.remedy);
  }
  std::cout << fmt::format("\n{} kinds of errors, {} of warnings, {} of notes: {}\n",
                           audit.count(audit::Level::kError), audit.count(audit::Level::kWarning),
                           audit.count(audit::Level::kNote),
                           audit.ready() ? "training can go ahead" : "training should wait");
}

void fix(const audit::Audit& audit, dataset::Dataset data, const fs::path& folder) {
  const audit::RepairSummary summary = audit::apply_repairs(audit, &data);
  if (summary.changes() == 0) {
    spdlog::info("nothing that --fix mends");
    return;
  }
  std::vector<std::string> changes;
  for (const base::Finding& finding : summary.findings) changes.push_back(base::to_string(finding));
  const fs::path kept = audit::keep_manifest(folder, "maskfit data check --fix", changes);
  base::Findings findings = dataset::read_findings(folder);
  findings.insert(findings.end(), summary.findings.begin(), summary.findings.end());
  dataset::write_dataset(data, findings,
                         fmt::format("{}; mended by the audit: {} changes", dataset::read_provenance(folder),
                                     summary.changes()));
  spdlog::info(
      "left out: {} pictures, {} boxes; cut: {} boxes; made regions to ignore: {} boxes; the manifest before "
      "is in "
      "{}, --undo puts it back",
      summary.dropped_samples, summary.dropped_boxes, summary.clipped_boxes, summary.ignored_boxes,
      kept.string());
}

void require_manifest(const Options& o, const char* option) {
  if (dataset::is_dataset(o.path)) return;
  throw base::Error(base::ExitCode::kUsage, fmt::format("{} changes the manifest of a dataset", option),
                    o.path, "make one with `maskfit data import` first");
}

int run(const Options& o) {
  if (o.undo) {
    require_manifest(o, "--undo");
    std::cout << "taken back: " << audit::undo(o.path) << "\n";
    return 0;
  }
  if (o.fix) require_manifest(o, "--fix");
  const dataset::Dataset data = dataset::open_data(o.path);
  StageProgress progress;
  audit::AuditOptions options;
  options.network = {picture_size(o.size, "--size"), o.stride, image::canvas_mode_from_name(o.canvas)};
  options.sources = audit::source_rule_from_name(o.sources);
  options.stop = base::interrupt_token();
  options.detect_confidence = o.confidence;
  if (!o.model.empty()) options.detect = eyes_of_model(o.model, o.device, data.class_names);
  if (!o.no_cache && dataset::is_dataset(o.path))
    options.cache = fs::path(o.path) / dataset::kPictureCacheName;
  options.progress = [&](const std::string& stage, std::int64_t done, std::int64_t total) {
    progress.show(stage, done, total);
  };
  const audit::Audit result = audit::audit(data, options);
  progress.clear();
  if (!o.report.empty()) {
    audit::write_page(o.report, result, data, o.path);
    base::write_file(fs::path(o.report) / "audit.json", audit::to_json(result, data, -1) + "\n");
    spdlog::info("report written to {}", (fs::path(o.report) / "index.html").string());
  }
  if (o.json) {
    std::cout << audit::to_json(result, data, -1) << "\n";
  } else {
    print(result, data, o.examples);
  }
  const bool ready = o.fix ? audit::ready_after_repairs(result) : result.ready();
  if (o.fix) {
    fix(result, data, o.path);
    if (!o.json) {
      std::cout << "after the repairs training " << (ready ? "can go ahead" : "should still wait") << "\n";
    }
  }
  return static_cast<int>(ready ? base::ExitCode::kDone : base::ExitCode::kRefused);
}

std::function<int()> declare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("DATASET", o->path,
                 "A dataset, a folder of pictures and labels, or 'GLOB@IMAGES' of TFRecords")
      ->required();
  app.add_option("--report", o->report, "Folder for index.html and audit.json");
  app.add_flag("--json", o->json, "Everything as JSON");
  app.add_flag("--fix", o->fix,
               "Make the repairs that need no eyes, in the manifest; pictures stay as they are");
  app.add_flag("--undo", o->undo, "Take the last --fix or `data split` back");
  app.add_option("--size", o->size, "Input of the network to train, width x height")->capture_default_str();
  app.add_option("--stride", o->stride, "Pixels of the input that a cell of its output covers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--canvas", o->canvas, "How pictures meet that size: stretch, letterbox, pad")
      ->capture_default_str();
  app.add_option("--by-source", o->sources, "What a source is: auto, folder, prefix, none")
      ->capture_default_str();
  app.add_option("--model", o->model, "Model file that looks for unlabelled faces and wrong classes");
  app.add_option("--confidence", o->confidence, "From which on the model is believed")->capture_default_str();
  app.add_option("--device", o->device, "Of the model: cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--examples", o->examples, "How many of each finding are printed")->capture_default_str();
  app.add_flag("--no-cache", o->no_cache, "Decode every picture anew, and leave no picture-cache.bin");
  return [o] { return run(*o); };
}

}  // namespace

Command data_check_command() {
  return {"data check", "Audit a dataset: what is wrong, what it costs, how to mend it", declare};
}

}  // namespace maskfit::cli
