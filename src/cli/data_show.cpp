#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "audit/sheets.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/rng.h"
#include "cli/command.h"
#include "cli/picture_size.h"
#include "cli/stage_progress.h"
#include "dataset/picture_cache.h"
#include "loader/planner_options.h"
#include "train/build_network.h"
#include "train/run_request.h"
#include "train/training_data.h"

namespace maskfit::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string path, out, by = "class", size, spec, split;
  std::vector<std::string> assignments;
  audit::SheetOptions sheets;
  bool force = false;
};

// Pictures of the training part at random, as many as the sheet has tiles and some more for mosaics.
std::vector<loader::LabeledPicture> some_pictures(const dataset::Dataset& data, const Options& o) {
  std::vector<loader::LabeledPicture> all = loader::pictures_of(data, "train"), chosen;
  if (all.empty()) {
    throw base::Error(base::ExitCode::kRefused, "the dataset has no pictures to train on", o.path,
                      "run `maskfit data split DATASET`");
  }
  base::Rng rng(o.sheets.seed, base::Purpose::kShuffle);
  for (const std::int64_t i : rng.permutation(static_cast<std::int64_t>(all.size()))) {
    if (static_cast<int>(chosen.size()) < 2 * o.sheets.tiles) chosen.push_back(all[i]);
  }
  return chosen;
}

// Augmentation and targets of the training that this spec would start.
audit::Sheet as_trained(const dataset::Dataset& data, const Options& o) {
  train::RunRequest request;
  if (!o.spec.empty()) request.spec_file = o.spec;
  if (!o.size.empty()) request.size = o.size;
  request.seed = static_cast<std::int64_t>(o.sheets.seed);
  request.assignments = o.assignments;
  const spec::Experiment experiment = train::effective_experiment(request, data.class_names, true);
  const std::vector<loader::LabeledPicture> chosen = some_pictures(data, o);
  const loader::PictureSet pictures(chosen, train::class_mapping(experiment, chosen),
                                    train::picture_options(experiment));
  const loader::BatchPlanner planner(
      pictures, loader::planner_options_from_spec(experiment, {{0, pictures.size(), 1}}, false));
  const std::vector<std::string> names = train::class_names_of(experiment);
  const network::Network network = train::build_network(experiment);
  const network::Shape grid = network::infer_shapes(network).at(network.outputs.at(0));
  const audit::TrainingEyes eyes{pictures,
                                 planner,
                                 targets::shapes_from_spec(experiment.bbox_rasterizer_config(), names),
                                 {network.input.width, network.input.height, grid.width, grid.height},
                                 train::box_coding(experiment)};
  return o.by == "targets" ? audit::sheet_of_targets(eyes, o.sheets)
                           : audit::sheet_of_augmented(eyes, o.sheets);
}

std::vector<audit::Sheet> sheets_of_findings(const dataset::Dataset& data, const Options& o) {
  StageProgress progress;
  audit::AuditOptions options;
  options.network = o.sheets.network;
  options.stop = base::interrupt_token();
  if (dataset::is_dataset(o.path)) options.cache = fs::path(o.path) / dataset::kPictureCacheName;
  options.progress = [&](const std::string& stage, std::int64_t done, std::int64_t total) {
    progress.show(stage, done, total);
  };
  return audit::sheets_of_findings(audit::audit(data, options), data, o.sheets);
}

std::vector<audit::Sheet> make_sheets(const dataset::Dataset& data, const Options& o) {
  if (o.by == "class") return audit::sheets_by_class(data, o.sheets);
  if (o.by == "size") return audit::sheets_by_size(data, o.sheets);
  if (o.by == "source") {
    return audit::sheets_by_source(data, audit::find_sources(data.samples, audit::SourceRule::kAuto),
                                   o.sheets);
  }
  if (o.by == "findings") return sheets_of_findings(data, o);
  return {as_trained(data, o)};
}

void write(const std::vector<audit::Sheet>& sheets, const Options& o) {
  const std::string ending = fs::path(o.out).extension().string();
  const bool one_file = ending == ".jpg" || ending == ".jpeg" || ending == ".png";
  if (one_file && sheets.size() > 1) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("there are {} sheets for one file", sheets.size()),
                      o.out, "name a folder instead");
  }
  for (const audit::Sheet& sheet : sheets) {
    const fs::path file = one_file ? fs::path(o.out) : fs::path(o.out) / (sheet.name + ".jpg");
    std::error_code ignored;
    if (!o.force && fs::exists(file, ignored)) {
      throw base::Error(base::ExitCode::kFailed, "the file exists", file.string(),
                        "give another name, or --force to write over it");
    }
    image::write_image(file, sheet.picture, 88);
    spdlog::info("{} ({} x {} pixels)", file.string(), sheet.picture.width, sheet.picture.height);
  }
}

int run(Options o) {
  dataset::Dataset data = dataset::open_data(o.path);
  if (!o.split.empty())
    std::erase_if(data.samples, [&](const dataset::Sample& sample) { return sample.split != o.split; });
  if (!o.size.empty()) o.sheets.network.input = picture_size(o.size, "--size");
  const std::vector<audit::Sheet> sheets = make_sheets(data, o);
  if (sheets.empty()) spdlog::warn("there is nothing to show");
  write(sheets, o);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("DATASET", o->path, "A dataset, or a folder of pictures and labels")->required();
  app.add_option("-o,--out", o->out, "Folder for the sheets, or one .jpg or .png")->required();
  app.add_option("--by", o->by,
                 "class: faces of each class; size: from the smallest to the largest; source: whole "
                 "pictures; findings: "
                 "the worst of each finding of the audit; augmented: what the network is given; targets: and "
                 "what it is "
                 "to answer")
      ->check(CLI::IsMember({"class", "size", "source", "findings", "augmented", "targets"}))
      ->capture_default_str();
  app.add_option("--split", o->split, "Only train, val or test")
      ->check(CLI::IsMember({"train", "val", "test"}));
  app.add_option("--size", o->size,
                 "Input of the network, width x height; default: 960x544, or the recipe's");
  app.add_option("--spec", o->spec, "Spec of the training whose pictures are shown");
  app.add_option("--set", o->assignments, "FIELD=VALUE of that spec, as for `maskfit train`");
  app.add_option("--count", o->sheets.tiles, "Pictures on a sheet")
      ->check(CLI::Range(1, 2000))
      ->capture_default_str();
  app.add_option("--columns", o->sheets.columns, "Side by side")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--tile", o->sheets.tile_side, "Longer side of one, pixels")
      ->check(CLI::Range(16, 2000))
      ->capture_default_str();
  app.add_option("--seed", o->sheets.seed, "Of the draw and of the augmentation")->capture_default_str();
  app.add_flag("--force", o->force, "Write over files that exist");
  return [o] { return run(*o); };
}

}  // namespace

Command data_show_command() {
  return {"data show", "Contact sheets: by class, size, source, finding, or as the network sees them",
          declare};
}

}  // namespace maskfit::cli
