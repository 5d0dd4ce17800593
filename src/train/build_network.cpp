#include "train/build_network.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "network/backbones.h"
#include "network/model_file.h"

namespace maskfit::train {
namespace {

network::BackboneOptions backbone_options(const spec::Experiment& experiment) {
  const spec::ModelConfig& model = experiment.model_config();
  const auto& input = experiment.augmentation_config().preprocessing();
  return {
      .backbone = fmt::format("{}{}", model.arch(), model.num_layers()),
      .input = {static_cast<int>(input.output_image_channel()), static_cast<int>(input.output_image_height()),
                static_cast<int>(input.output_image_width())},
      .classes = experiment.cost_function_config().target_classes_size(),
      .all_projections = model.all_projections(),
      .use_batch_norm = model.use_batch_norm(),
      .use_pooling = model.use_pooling(),
      .width = model.has_width_multiplier() ? model.width_multiplier() : 1,
      .neck = model.neck()};
}

}  // namespace

PretrainedReport copy_weights(const network::Network& from, network::Network& to) {
  PretrainedReport report;
  for (auto& [name, array] : to.weights) {
    const auto found = from.weights.find(name);
    if (found == from.weights.end()) {
      report.skipped.push_back(fmt::format("{}: not in the file", name));
    } else if (found->second.shape != array.shape) {
      report.skipped.push_back(
          fmt::format("{}: {} here, {} in the file", name, array.shape, found->second.shape));
    } else {
      array.values = found->second.values;
      report.copied.push_back(name);
    }
  }
  return report;
}

network::Network build_network(const spec::Experiment& experiment, PretrainedReport* report) {
  const spec::ModelConfig& config = experiment.model_config();
  network::Network built = network::make_detectnet(backbone_options(experiment));
  network::initialise(built, config.init_seed() != 0 ? config.init_seed() : experiment.random_seed());
  if (config.has_head_init_scale()) network::shrink_head_kernels(built, config.head_init_scale());
  if (config.coverage_prior() > 0) network::set_coverage_prior(built, config.coverage_prior());
  if (config.box_prior() > 0) {
    network::set_box_prior(built, config.box_prior() / config.objective_set().bbox().scale());
  }
  if (config.has_bn_momentum()) {
    for (network::Node& node : built.nodes) node.momentum = config.bn_momentum();
  }
  if (config.pretrained_model_file().empty()) return built;

  const network::Model pretrained = network::read_model(config.pretrained_model_file());
  PretrainedReport copied = copy_weights(pretrained.network, built);
  if (copied.copied.empty()) {
    throw base::Error(
        base::ExitCode::kRefused, "no array of the pretrained model fits the network",
        config.pretrained_model_file(),
        fmt::format("the file holds {}, the spec asks for {}", pretrained.network.name, built.name));
  }
  if (report) *report = std::move(copied);
  return built;
}

model::DetectorOptions detector_options(const spec::Experiment& experiment, const std::string& device) {
  model::DetectorOptions options;
  options.device = device;
  switch (experiment.training_config().precision()) {
    case spec::TrainingConfig::BF16:
      options.precision = model::Precision::kBfloat16;
      break;
    case spec::TrainingConfig::FP16:
      options.precision = model::Precision::kFloat16;
      break;
    default:
      options.precision = model::Precision::kFloat32;
  }
  options.freeze_bn = experiment.model_config().freeze_bn();
  for (const float block : experiment.model_config().freeze_blocks()) {
    options.freeze_blocks.push_back(static_cast<int>(block));
  }
  return options;
}

}  // namespace maskfit::train
