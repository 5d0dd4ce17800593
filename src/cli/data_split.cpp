#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "audit/audit.h"
#include "audit/grouping.h"
#include "audit/repair.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/stage_progress.h"
#include "dataset/picture_cache.h"
#include "dataset/split.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string path, sources = "auto";
  dataset::DrawOptions draw;
  bool again = false, dry_run = false, no_similar = false;
};

// A line a source and split: pictures, and boxes by class.
std::string table_of(const dataset::Dataset& data, const audit::Sources& sources) {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::map<std::string, std::int64_t>>>
      rows;
  for (std::size_t i = 0; i < data.samples.size(); ++i) {
    const dataset::Sample& sample = data.samples[i];
    for (const std::string& source : {sources.names[sources.of_sample[i]], std::string("(all)")}) {
      auto& [pictures, boxes] = rows[{source, sample.split}];
      ++pictures;
      for (const dataset::LabeledBox& box : sample.boxes) boxes[box.class_name] += box.ignore ? 0 : 1;
    }
    if (sources.names.size() == 1) rows.erase({sources.names[0], sample.split});
  }
  std::string table = fmt::format("{:20} {:6} {:>9}", "source", "split", "pictures");
  for (const std::string& name : data.class_names) table += fmt::format("  {:>8}", name);
  table += "\n";
  for (const auto& [key, row] : rows) {
    table += fmt::format("{:20} {:6} {:>9}", key.first, key.second, row.first);
    for (const std::string& name : data.class_names) {
      const auto found = row.second.find(name);
      table += fmt::format("  {:>{}}", found == row.second.end() ? 0 : found->second,
                           std::max<std::size_t>(8, name.size()));
    }
    table += "\n";
  }
  return table;
}

std::string pictures(std::int64_t n) {
  return fmt::format("{} picture{}", n, n == 1 ? "" : "s");
}

bool has_validation(const dataset::Dataset& data) {
  return std::any_of(data.samples.begin(), data.samples.end(),
                     [](const dataset::Sample& sample) { return sample.split == "val"; });
}

// Looks at the pictures for what belongs together.
audit::Sources group(const Options& o, dataset::Dataset* data) {
  if (o.no_similar) return audit::find_sources(data->samples, audit::source_rule_from_name(o.sources));
  StageProgress progress;
  audit::AuditOptions options;
  options.sources = audit::source_rule_from_name(o.sources);
  options.stop = base::interrupt_token();
  options.cache = fs::path(o.path) / dataset::kPictureCacheName;
  options.progress = [&](const std::string& stage, std::int64_t done, std::int64_t total) {
    progress.show(stage, done, total);
  };
  const audit::Audit found = audit::audit(*data, options);
  progress.clear();
  const std::int64_t grouped = audit::group_similar(found.similar, &data->samples);
  spdlog::info("in groups of similar pictures or in videos: {}", pictures(grouped));
  return found.sources;
}

int run(const Options& o) {
  if (!dataset::is_dataset(o.path)) {
    throw base::Error(base::ExitCode::kUsage, "only a dataset's manifest has a split", o.path,
                      "make one with `maskfit data import` first");
  }
  dataset::Dataset data = dataset::read_dataset(o.path);
  const std::vector<dataset::Sample> before = data.samples;
  const audit::Sources sources = group(o, &data);
  std::string what;
  if (o.again || !has_validation(data)) {
    for (dataset::Sample& sample : data.samples) {
      // Without --again what is held out already stays so.
      if (o.again || sample.split == "train") sample.split.clear();
    }
    dataset::draw_splits(data.samples, audit::strata_of(data.samples, sources), o.draw);
    what = fmt::format("drawn: {} % to validate, {} % to test, seed {}", o.draw.val_percent,
                       o.draw.test_percent, o.draw.seed);
  } else {
    const std::int64_t moved = audit::join_parted_groups(&data.samples);
    what =
        fmt::format("the split was kept; {} joined similar ones (--again draws a new one)", pictures(moved));
  }
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i].split != data.samples[i].split ? 1 : 0;
  std::cout << what << "\n" << pictures(moved) << " changed the split\n\n" << table_of(data, sources);
  if (o.dry_run || data.samples == before) return 0;
  const fs::path kept = audit::keep_manifest(o.path, "maskfit data split", {what});
  dataset::write_dataset(data, dataset::read_findings(o.path),
                         fmt::format("{}; split: {}", dataset::read_provenance(o.path), what));
  spdlog::info("written; `maskfit data check {} --undo` takes it back", o.path);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("DATASET", o->path, "A dataset")->required();
  app.add_flag("--again", o->again,
               "Draw everything anew; else the split that is there stays, and only pictures "
               "whose like is in another part move");
  app.add_option("--val-percent", o->draw.val_percent, "Part to validate on")->capture_default_str();
  app.add_option("--test-percent", o->draw.test_percent, "Part to test on")->capture_default_str();
  app.add_option("--seed", o->draw.seed, "Of the draw")->capture_default_str();
  app.add_option("--by-source", o->sources,
                 "What is kept in proportion beside the classes: auto, folder, prefix, none")
      ->capture_default_str();
  app.add_flag("--no-similar", o->no_similar, "Do not look at the pictures for copies and videos");
  app.add_flag("--dry-run", o->dry_run, "Print the tables and change nothing");
  return [o] { return run(*o); };
}

}  // namespace

Command data_split_command() {
  return {"data split", "Part a dataset, similar pictures together, sources and classes in proportion",
          declare};
}

}  // namespace maskfit::cli
