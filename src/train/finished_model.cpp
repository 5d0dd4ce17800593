#include "train/finished_model.h"

#include "base/error.h"
#include "base/version.h"
#include "spec/load.h"
#include "spec/print.h"
#include "train/run_request.h"
#include "train/training_data.h"
#include "train/validation.h"

namespace maskfit::train {
namespace {

constexpr const char* kSpecEntry = "experiment_spec";

// Zeros are written out: read back, the text is laid over its recipe, which must not fill them in again.
std::string full_text(const google::protobuf::Message& message) {
  return spec::to_text(message, {.comments = false, .all_fields = true});
}

void add_figures(const evaluate::Evaluation& evaluation, network::Model& model) {
  auto& entries = model.provenance;
  entries["map"] = fmt::format("{}", evaluation.map);
  entries["map50"] = fmt::format("{}", evaluation.map50);
  entries["map75"] = fmt::format("{}", evaluation.map75);
  entries["map50_95"] = fmt::format("{}", evaluation.map50_95);
  for (const evaluate::ClassResult& result : evaluation.classes) {
    entries["ap/" + result.name] = fmt::format("{}", result.ap);
    entries[network::confidence_threshold_key(result.name)] = fmt::format("{}", best_f1_confidence(result));
  }
}

}  // namespace

network::Model finished_model(network::Network network, const spec::Experiment& experiment,
                              const ModelOrigin& origin) {
  network::Model model;
  model.network = std::move(network);
  model.class_names = class_names_of(experiment);
  model.canvas = image::to_string(picture_options(experiment).mode);
  model.box_scale = box_coding(experiment).scale;
  model.box_offset = box_coding(experiment).offset;
  model.postprocessing = full_text(experiment.postprocessing_config());
  model.provenance = {{kSpecEntry, full_text(experiment)},
                      {"spec_digest", spec::digest(experiment)},
                      {"data_digest", origin.data_digest},
                      {"seed", std::to_string(experiment.random_seed())},
                      {"version", base::version()},
                      {"epoch", std::to_string(origin.epoch)},
                      {"step", std::to_string(origin.step)},
                      {"recipe", spec::TrainingConfig::Recipe_Name(experiment.training_config().recipe())}};
  model.provenance.insert(origin.lineage.begin(), origin.lineage.end());
  if (origin.evaluation) add_figures(*origin.evaluation, model);
  return model;
}

bool has_experiment(const network::Model& model) {
  return model.provenance.contains(kSpecEntry);
}

spec::Experiment experiment_of(const network::Model& model, const std::string& name_for_errors) {
  const auto found = model.provenance.find(kSpecEntry);
  if (found == model.provenance.end()) {
    throw base::Error(base::ExitCode::kRefused, "the model does not say which spec it was trained with",
                      name_for_errors, "give the spec with --spec");
  }
  spec::Loaded<spec::Experiment> loaded =
      spec::read_experiment(found->second, name_for_errors + ": " + kSpecEntry);
  spec::throw_if_refused(loaded.findings);
  return std::move(loaded.spec);
}

}  // namespace maskfit::train
