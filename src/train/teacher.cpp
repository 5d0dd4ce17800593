#include "train/teacher.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "loss/distillation.h"
#include "model/outputs.h"
#include "network/model_file.h"
#include "train/build_network.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {

void refuse_unlike(const network::Model& teacher, const spec::Experiment& experiment,
                   const network::Network& student) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw base::Error(base::ExitCode::kRefused, what,
                      experiment.cost_function_config().distillation().teacher(), hint);
  };
  const std::vector<std::string> classes = class_names_of(experiment);
  if (teacher.class_names != classes) {
    refuse(fmt::format("the teacher's classes are {}, those to train are {}",
                       fmt::join(teacher.class_names, ", "), fmt::join(classes, ", ")),
           "take a teacher of the same classes in the same order");
  }
  const targets::BoxCoding coding = box_coding(experiment);
  if (teacher.box_scale != coding.scale || teacher.box_offset != coding.offset) {
    refuse(fmt::format("the teacher's boxes have scale {} and offset {}, those to train {} and {}",
                       teacher.box_scale, teacher.box_offset, coding.scale, coding.offset),
           "set model_config.objective_set.bbox to the teacher's");
  }
  const auto grid = [](const network::Network& network) {
    return network::infer_shapes(network).at(network.outputs.at(1));
  };
  const network::Shape theirs = grid(teacher.network), ours = grid(student);
  if (theirs != ours || teacher.network.input.channels != student.input.channels) {
    refuse(fmt::format("the teacher answers on a grid of {}x{} cells, the network in training on {}x{}",
                       theirs.width, theirs.height, ours.width, ours.height),
           "take a teacher of the same stride and input channels");
  }
}

}  // namespace

Teacher::Teacher(model::Detector detector, double box_scale, spec::CostFunctionConfig::Distillation config)
    : detector_(std::move(detector)), box_scale_(box_scale), config_(std::move(config)) {
  detector_.fold_for_inference();
}

std::unique_ptr<Teacher> Teacher::open(const spec::Experiment& experiment, const network::Network& student,
                                       const std::string& device) {
  const auto& config = experiment.cost_function_config().distillation();
  if (config.teacher().empty()) return nullptr;
  network::Model model = network::read_model(config.teacher());
  model.network.input.width = student.input.width;
  model.network.input.height = student.input.height;
  refuse_unlike(model, experiment, student);
  // Neither blocks nor norms of the teacher train, so the spec's freezing is not for it.
  return std::unique_ptr<Teacher>(new Teacher(
      model::Detector(std::move(model.network), device, detector_options(experiment, device).precision),
      box_coding(experiment).scale, config));
}

at::Tensor Teacher::cost(const at::Tensor& images, const model::Outputs& outputs) {
  const model::Outputs taught = detector_.forward(images, /*training=*/false);
  return loss::distillation_cost(outputs.bbox, outputs.cov_logits, taught.bbox, taught.cov, box_scale_,
                                 config_);
}

}  // namespace maskfit::train
