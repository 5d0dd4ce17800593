#include "train/finished_model.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/version.h"
#include "spec/load.h"
#include "spec/print.h"
#include "spec/text_parser.h"
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

// The classes are in the order of the model's channels. Its spec lists the same ones, perhaps in another
// order.
void take_class_order(const network::Model& model, const std::string& name_for_errors,
                      spec::Experiment* experiment) {
  auto* targets = experiment->mutable_cost_function_config()->mutable_target_classes();
  const std::vector<std::string> listed = class_names_of(*experiment);
  if (!std::is_permutation(listed.begin(), listed.end(), model.class_names.begin(),
                           model.class_names.end())) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("the model's class_names are {}, but the spec it was trained with has {}",
                                  fmt::join(model.class_names, ", "), fmt::join(listed, ", ")),
                      name_for_errors,
                      "the file was edited; take it from its source again, or give a spec with --spec");
  }
  const auto place = [&](const auto& target) {
    return std::find(model.class_names.begin(), model.class_names.end(), target.name());
  };
  std::sort(targets->begin(), targets->end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

// As deploy::PictureDetector reads it.
void take_postprocessing(const network::Model& model, const std::string& name_for_errors,
                         spec::Experiment* experiment) {
  spec::Source source(name_for_errors + ": postprocessing");
  base::Findings findings;
  experiment->clear_postprocessing_config();
  spec::parse_text(model.postprocessing, experiment->mutable_postprocessing_config(), &source, &findings);
  spec::throw_if_refused(findings);
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
  take_class_order(model, name_for_errors, &loaded.spec);
  take_postprocessing(model, name_for_errors, &loaded.spec);
  take_network_facts(model, &loaded.spec);
  return std::move(loaded.spec);
}

void take_network_facts(const network::Model& model, spec::Experiment* experiment) {
  auto* input = experiment->mutable_augmentation_config()->mutable_preprocessing();
  input->set_output_image_width(static_cast<std::uint32_t>(model.network.input.width));
  input->set_output_image_height(static_cast<std::uint32_t>(model.network.input.height));
  input->set_output_image_channel(static_cast<std::uint32_t>(model.network.input.channels));
  auto* coding = experiment->mutable_model_config()->mutable_objective_set()->mutable_bbox();
  coding->set_scale(model.box_scale);
  coding->set_offset(model.box_offset);
}

}  // namespace maskfit::train
