#include "train/build_network.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "network/backbones.h"
#include "network/limits.h"
#include "network/model_file.h"
#include "train/run_request.h"

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

void require_possible_input(const spec::Experiment& experiment) {
  const auto& input = experiment.augmentation_config().preprocessing();
  const auto limit = static_cast<std::uint32_t>(network::kMaxExtent);
  if (input.output_image_width() <= limit && input.output_image_height() <= limit) return;
  throw base::Error(base::ExitCode::kRefused,
                    fmt::format("an input of {}x{} pixels is too large for any network",
                                input.output_image_width(), input.output_image_height()),
                    "augmentation_config.preprocessing", fmt::format("sides go up to {}", limit));
}

void refuse_other_model(const network::Model& model, const spec::Experiment& experiment) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw base::Error(base::ExitCode::kRefused, what, experiment.model_config().pretrained_model_file(),
                      hint);
  };
  const std::vector<std::string> classes = class_names_of(experiment);
  if (model.class_names != classes) {
    refuse(fmt::format("the model's classes are {}, those to train are {}",
                       fmt::join(model.class_names, ", "), fmt::join(classes, ", ")),
           "map the labels to the model's classes, or take only the weights that fit: "
           "--set model_config.pretrained_model_file=FILE without --from");
  }
  const auto channels = experiment.augmentation_config().preprocessing().output_image_channel();
  if (model.network.input.channels != static_cast<int>(channels)) {
    refuse(fmt::format("the model takes pictures of {} channels, the spec has {}",
                       model.network.input.channels, channels),
           "set augmentation_config.preprocessing.output_image_channel");
  }
  const targets::BoxCoding coding = box_coding(experiment);
  if (model.box_scale != coding.scale || model.box_offset != coding.offset) {
    refuse(fmt::format("the model's boxes have scale {} and offset {}, the spec's {} and {}", model.box_scale,
                       model.box_offset, coding.scale, coding.offset),
           "set model_config.objective_set.bbox to the model's");
  }
}

// "resnet18 ..., 1.386 million parameters; pruned to 12.0 % of 11.553 million"
std::string describe(const network::Model& model) {
  const network::Counts counts = network::count(model.network);
  const double parameters = static_cast<double>(counts.trainable + counts.non_trainable);
  std::string text = fmt::format("network and all weights of {}, {:.3f} million parameters",
                                 model.network.name, parameters / 1e6);
  const auto pruned = model.provenance.find("prune/parameters");
  long long before = 0;
  if (pruned != model.provenance.end()) {
    const std::string& pair = pruned->second;  // "[before,after]"
    base::parse_int(pair.substr(1, pair.find(',') - 1), &before);
  }
  if (before > 0) {
    const auto whole = static_cast<double>(before);
    text += fmt::format("; pruned to {:.1f} % of {:.3f} million", 100 * parameters / whole, whole / 1e6);
  }
  const auto parent_map = model.provenance.find("prune/parent/map");
  float map = 0;
  if (parent_map != model.provenance.end() && base::parse_float(parent_map->second, &map)) {
    text += fmt::format(", which reached mAP {:.4f}", map);
  }
  return text;
}

network::Network loaded_network(const spec::Experiment& experiment, PretrainedReport* report) {
  network::Model model = network::read_model(experiment.model_config().pretrained_model_file());
  refuse_other_model(model, experiment);
  if (report) {
    report->loaded = describe(model);
    for (const auto& [name, array] : model.network.weights) report->copied.push_back(name);
    for (const auto& [key, value] : model.provenance) {
      if (key.starts_with("prune/")) report->lineage.emplace(key, value);
    }
  }
  const auto& input = experiment.augmentation_config().preprocessing();
  model.network.input.width = static_cast<int>(input.output_image_width());
  model.network.input.height = static_cast<int>(input.output_image_height());
  return std::move(model.network);
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
  require_possible_input(experiment);
  if (config.load_graph()) return loaded_network(experiment, report);
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
