#include "train/session.h"

#include <ATen/core/grad_mode.h>

#include <cstring>
#include <span>

#include "base/error.h"
#include "loader/planner_options.h"
#include "spec/print.h"
#include "tensor/array.h"
#include "train/build_network.h"
#include "train/rank_mean.h"
#include "train/run_request.h"
#include "train/training_data.h"

namespace maskfit::train {
namespace {

boxes::GridGeometry output_geometry(const network::Network& network) {
  const network::Shape grid = network::infer_shapes(network).at(network.outputs.at(0));
  return {network.input.width, network.input.height, grid.width, grid.height};
}

void report_pretrained(const PretrainedReport& report, const std::string& file, Observer& observer) {
  if (report.copied.empty()) return;
  if (!report.loaded.empty()) {
    observer.on_notice(Notice::kInfo, fmt::format("{}: {}", file, report.loaded));
    return;
  }
  observer.on_notice(Notice::kInfo, fmt::format("{} arrays copied from {}, {} left as they were",
                                                report.copied.size(), file, report.skipped.size()));
  for (const std::string& skipped : report.skipped)
    observer.on_notice(Notice::kInfo, "not copied: " + skipped);
}

}  // namespace

Session::Session(const PreparedRun& prepared, const TrainOptions& train_options, Observer& observer)
    : run(prepared),
      options(train_options),
      class_names(class_names_of(prepared.experiment)),
      regulariser(prepared.experiment.training_config().regularizer()),
      scaling(prepared.experiment.training_config().cost_scaling()),
      monitor(2 * class_names.size()) {
  const spec::Experiment& experiment = run.experiment;
  spent.begin("reading pictures");
  loader::PictureSetOptions picture_set = picture_options(experiment);
  picture_set.progress = options.decoding;
  if (options.group) picture_set.memory_limit_bytes /= options.group->place().local_ranks;
  train_pictures = std::make_unique<loader::PictureSet>(run.data.train, run.classes, picture_set);
  if (!run.data.val.empty()) {
    val_pictures = std::make_unique<loader::PictureSet>(run.data.val, run.classes, picture_set);
  }
  loader::PlannerOptions plans =
      loader::planner_options_from_spec(experiment, run.data.sources, options.reference_exact);
  if (options.group) plans.rank = options.group->rank(), plans.ranks = options.group->size();
  planner = std::make_unique<loader::BatchPlanner>(*train_pictures, std::move(plans));

  spent.begin("network");
  PretrainedReport pretrained;
  network::Network network = build_network(experiment, &pretrained);
  report_pretrained(pretrained, experiment.model_config().pretrained_model_file(), observer);
  lineage = pretrained.lineage;
  target_options = {.task_aligned = experiment.cost_function_config().has_task_aligned(),
                    .shapes = targets::shapes_from_spec(experiment.bbox_rasterizer_config(), class_names),
                    .geometry = output_geometry(network),
                    .coding = box_coding(experiment),
                    .classes = static_cast<int>(class_names.size()),
                    .reference_exact = options.reference_exact};
  teacher = Teacher::open(experiment, network, options.device);
  if (teacher) {
    observer.on_notice(Notice::kInfo,
                       "learning from " + experiment.cost_function_config().distillation().teacher());
  }
  if (options.group) mean = make_rank_mean(*options.group, options.device);
  model::DetectorOptions detector_is = detector_options(experiment, options.device);
  if (experiment.training_config().sync_batch_norm()) detector_is.norm_over = mean.get();
  detector = std::make_unique<model::Detector>(std::move(network), detector_is);
  loss = std::make_unique<loss::DetectionLoss>(loss::LossOptions{.cost = experiment.cost_function_config(),
                                                                 .geometry = target_options.geometry,
                                                                 .coding = target_options.coding,
                                                                 .device = options.device,
                                                                 .ranks = mean.get()});
  optimizer = std::make_unique<Optimizer>(experiment.training_config().optimizer(),
                                          detector->parameter_names(), detector->parameters());
  if (mean) {
    buckets = std::make_unique<GradientBuckets>(detector->parameters(), *mean);
    detector->on_gradient(
        [this](std::size_t index, const at::Tensor& gradient) { buckets->take(index, gradient); });
  }
  learning_rate = std::make_unique<LearningRate>(experiment.training_config().learning_rate(),
                                                 steps_per_epoch(), epochs());
  average = std::make_unique<WeightAverage>(array_names(), array_tensors(),
                                            experiment.training_config().ema_decay());
  spent.end();
}

std::int64_t Session::epochs() const {
  return run.experiment.training_config().num_epochs();
}

Position Session::position(std::int64_t finished_steps) const {
  // The last step of an epoch still belongs to it.
  const std::int64_t epoch = finished_steps == 0 ? 0 : (finished_steps - 1) / steps_per_epoch();
  return {.epoch = epoch + 1,
          .epochs = epochs(),
          .step_in_epoch = finished_steps - epoch * steps_per_epoch(),
          .steps_per_epoch = steps_per_epoch(),
          .step = finished_steps};
}

std::vector<std::string> Session::array_names() const {
  std::vector<std::string> names = detector->parameter_names();
  for (const std::string& name : detector->buffer_names()) names.push_back(name);
  return names;
}

std::vector<at::Tensor> Session::array_tensors() const {
  std::vector<at::Tensor> tensors = detector->parameters();
  for (const at::Tensor& buffer : detector->buffers()) tensors.push_back(buffer);
  return tensors;
}

void Session::take_statistics_of_first() {
  if (!options.group || options.group->size() == 1) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> tensors = detector->buffers();
  // Their averages follow those of the weights.
  const std::vector<at::Tensor> averages = average->averages();
  const std::size_t weights = detector->parameters().size();
  for (std::size_t i = weights; i < averages.size(); ++i) tensors.push_back(averages[i]);
  std::vector<float> values;
  for (const at::Tensor& tensor : tensors) {
    const std::vector<float> one = tensor::to_values(tensor);
    values.insert(values.end(), one.begin(), one.end());
  }
  const std::string mine(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  const std::string first = options.group->broadcast(mine);
  MASKFIT_CHECK(first.size() == mine.size(), "{} bytes, not {}", first.size(), mine.size());
  std::memcpy(values.data(), first.data(), first.size());
  std::size_t offset = 0;
  for (const at::Tensor& tensor : tensors) {
    const auto count = static_cast<std::size_t>(tensor.numel());
    tensor.copy_(tensor::from_values(std::span(values).subspan(offset, count), tensor.sizes()));
    offset += count;
  }
}

Checkpoint Session::state_without_arrays() const {
  Checkpoint saved;
  saved.step = step;
  saved.texts["data_digest"] = run.data.digest;
  saved.numbers = monitor.state();
  saved.numbers["optimizer/steps"] = {static_cast<double>(optimizer->steps())};
  saved.numbers["loss/state"] = loss->state();
  saved.numbers["learning_rate/state"] = learning_rate->state();
  saved.numbers["loss_scaling/state"] = scaling.state();
  saved.numbers["batches"] = {static_cast<double>(planner->global_batch()),
                              static_cast<double>(steps_per_epoch())};
  saved.numbers["best"] = {best.map, static_cast<double>(best.epoch)};
  return saved;
}

void Session::restore(const Checkpoint& saved) {
  const at::NoGradGuard no_grad;
  const auto digest = saved.texts.find("data_digest");
  if (digest == saved.texts.end() || digest->second != run.data.digest) {
    throw base::Error(
        base::ExitCode::kRefused, "the dataset is not the one that this run was trained on so far",
        run.folder.path().string(), "resume with the same data, or begin a new run with another --out");
  }
  const std::vector<std::string> names = array_names();
  const std::vector<at::Tensor> tensors = array_tensors();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const network::Array& array = saved.array("weights/" + names[i]);
    if (array.shape != tensors[i].sizes().vec()) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("the checkpoint has another shape of '{}'", names[i]),
                        run.folder.path().string(), "it belongs to another network; begin a new run");
    }
    tensors[i].copy_(tensor::from_values(array.values, array.shape));
  }
  optimizer->set_state(saved.arrays, static_cast<std::int64_t>(saved.numbers_of("optimizer/steps", 1)[0]));
  average->set_state(saved.arrays);
  monitor.set_state(saved.numbers);
  loss->set_state(saved.numbers_of("loss/state", 4 * class_names.size()));
  learning_rate->set_state(saved.numbers_of("learning_rate/state", LearningRate::kStateSize));
  scaling.set_state(saved.numbers_of("loss_scaling/state", LossScaling::kStateSize));
  best = {saved.numbers_of("best", 2)[0], static_cast<std::int64_t>(saved.numbers_of("best", 2)[1])};
  step = step_of(saved);
}

// The step at which as many pictures of the epoch have been seen: another number of ranks or another batch
// has other steps. What is left of a batch is seen again.
std::int64_t Session::step_of(const Checkpoint& saved) const {
  if (!saved.numbers.contains("batches")) return saved.step;  // of an older version, which had one rank
  const std::vector<double>& then = saved.numbers_of("batches", 2);
  const auto batch = static_cast<std::int64_t>(then[0]), steps = static_cast<std::int64_t>(then[1]);
  if (batch == planner->global_batch()) return saved.step;
  const std::int64_t pictures = saved.step % steps * batch;
  return saved.step / steps * steps_per_epoch() + pictures / planner->global_batch();
}

}  // namespace maskfit::train
