#include "train/prepare_run.h"

#include <ctime>

#include "base/error.h"
#include "spec/load.h"
#include "spec/print.h"
#include "train/build_network.h"
#include "train/require_machine.h"
#include "train/teacher.h"

namespace maskfit::train {
namespace {
namespace fs = std::filesystem;
using base::Error;
using base::ExitCode;

spec::Experiment stored_experiment(const runs::RunFolder& folder) {
  spec::Loaded<spec::Experiment> loaded = spec::load_experiment(folder.spec());
  spec::throw_if_refused(loaded.findings);
  return std::move(loaded.spec);
}

// The spec alone says where the data lies.
TrainingData data_of(const spec::Experiment& experiment, const RunRequest& request) {
  const fs::path base =
      request.spec_file ? fs::absolute(*request.spec_file).parent_path() : fs::current_path();
  return open_spec_data(experiment.dataset_config(), base);
}

// A model to train on from, or to learn from, that does not fit is refused before there is a folder.
void check_models(const spec::Experiment& experiment) {
  if (experiment.model_config().pretrained_model_file().empty() &&
      experiment.cost_function_config().distillation().teacher().empty()) {
    return;
  }
  Teacher::open(experiment, build_network(experiment), "cpu");
}

void require_data(const RunRequest& request, const RunPlace& place) {
  if (!place.data.empty() || request.spec_file || place.resume) return;
  throw Error(ExitCode::kUsage, "there is nothing to train on", "DATASET",
              "name a dataset, or a spec file (--spec) with data_sources");
}

// A run's files among those of a dataset would be neither.
void require_own_folder(const RunPlace& place) {
  std::error_code ignored;
  const bool is_data = !place.data.empty() && fs::equivalent(place.out, place.data, ignored);
  if (!is_data && !dataset::is_dataset(place.out)) return;
  throw Error(ExitCode::kUsage, "the run folder is a folder of data", place.out.string(),
              "give the run a folder of its own with --out");
}

}  // namespace

fs::path default_run_folder(const fs::path& data) {
  std::string name = data.filename().string();
  if (name.empty()) name = data.parent_path().filename().string();  // "masks/"
  const std::size_t at = name.find('@');                            // TFRecords as GLOB@FOLDER
  name = name.substr(0, at);
  std::erase_if(name, [](char c) { return c == '*' || c == '?' || c == '[' || c == ']'; });
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
  const fs::path wanted = fs::path("runs") / fmt::format("{}-{}", name.empty() ? "run" : name, stamp);
  fs::path folder = wanted;
  for (int n = 2; fs::exists(folder); ++n) folder = wanted.string() + fmt::format("-{}", n);
  return folder;
}

PreparedRun prepare_rank(const RunRequest& request, const RunPlace& place, const std::string& spec_text) {
  spec::Loaded<spec::Experiment> loaded = spec::read_experiment(spec_text, "the spec of rank 0");
  spec::throw_if_refused(loaded.findings);
  TrainingData data = place.data.empty() ? data_of(loaded.spec, request) : open_named_data(place.data);
  loader::ClassMapping classes = class_mapping(loaded.spec, data.train);
  if (!place.device.empty()) require_machine(loaded.spec, place.device);
  return {std::move(loaded.spec), std::move(data), std::move(classes),
          runs::RunFolder::of_another(place.out)};
}

PreparedRun prepare_run(const RunRequest& request, const RunPlace& place) {
  require_data(request, place);
  require_own_folder(place);
  if (!place.device.empty()) require_device(place.device);
  const bool named = !place.data.empty();
  TrainingData data;
  if (named) data = open_named_data(place.data);
  const std::vector<std::string> labels = data.label_names();
  base::Findings warnings;
  const auto warn_with_data = [&] {
    data.findings.insert(data.findings.begin(), warnings.begin(), warnings.end());
  };

  if (place.resume) {
    runs::RunFolder folder = runs::RunFolder::resume(place.out);
    spec::Experiment experiment =
        resumed_experiment(stored_experiment(folder), request, labels, named, &warnings);
    if (!named) data = data_of(experiment, request);
    warn_with_data();
    loader::ClassMapping classes = class_mapping(experiment, data.train);
    if (!place.device.empty()) require_machine(experiment, place.device);
    return {std::move(experiment), std::move(data), std::move(classes), std::move(folder)};
  }
  spec::Experiment experiment = effective_experiment(request, labels, named, &warnings);
  if (!named) data = data_of(experiment, request);
  warn_with_data();
  loader::ClassMapping classes = class_mapping(experiment, data.train);
  if (!place.device.empty()) require_machine(experiment, place.device);
  check_models(experiment);
  runs::RunFolder folder = runs::RunFolder::create(place.out, place.overwrite);
  base::write_file(folder.spec(), spec::to_text(experiment));
  return {std::move(experiment), std::move(data), std::move(classes), std::move(folder)};
}

}  // namespace maskfit::train
