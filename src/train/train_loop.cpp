#include "train/train_loop.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "base/error.h"
#include "base/parallel.h"
#include "loss/loss_tensors.h"
#include "model/outputs.h"
#include "runs/checkpoint_store.h"
#include "tensor/device.h"
#include "tensor/process_tuning.h"
#include "tensor/version.h"
#include "train/build_network.h"
#include "train/epoch_end.h"
#include "train/gpu_step.h"
#include "train/pixel_source.h"
#include "train/rank_mean.h"
#include "train/run_log.h"
#include "train/step_inputs.h"
#include "train/step_queue.h"
#include "train/step_reports.h"

namespace maskfit::train {
namespace {

// LibTorch's thread pool and its choice of algorithms. Ranks of one machine share its cores.
void set_up_library(const spec::TrainingConfig& config, const ranks::Group* group) {
  if (config.threads() > 0) {
    at::set_num_threads(static_cast<int>(config.threads()));
  } else if (group) {
    at::set_num_threads(std::max(1, base::usable_cores() / group->place().local_ranks));
  }
  tensor::keep_freed_memory();
  tensor::sleep_at_barriers();
  at::globalContext().setDeterministicAlgorithms(config.deterministic(), /*warn_only=*/false);
  if (config.deterministic()) at::globalContext().setBenchmarkCuDNN(false);
}

// On a CPU the loader shares the cores with the network, which needs most of them; beside a GPU they are its
// own.
int loader_threads(const Session& s) {
  const int threads = at::get_num_threads();
  return std::max(1, s.options.device == "cpu" ? threads / 4 : threads - 1);
}

// One step of gradient descent: the recipe, and nothing else.
// N pictures of H x W pixels; C classes; h x w grid cells.
void take_step(Session& s, const StepInput& input, PixelSource& pixels, StepQueue& queue) {
  const at::Tensor images = pixels.make(input.plan, input.pixels);  // [N][3][H][W]
  const loss::Targets targets = s.loss->upload(host_targets(input.targets));

  const model::Outputs outputs =
      s.detector->forward(images, /*training=*/true);  // bbox [N][4C][h][w], cov [N][C][h][w]
  loss::Loss loss = s.loss->compute(outputs.bbox, outputs.cov_logits, outputs.cov, targets);
  if (s.teacher) loss.task = loss.task.add(s.teacher->cost(images, outputs));
  const at::Tensor scaled = loss.task.mul(s.scaling.factor());
  if (s.mean) begin_mean_of_costs(loss, *s.mean);
  std::vector<at::Tensor> gradients = s.detector->backward(scaled);
  if (s.buckets) s.buckets->finish(gradients);
  const bool finite = s.scaling.unscale(gradients);  // false: all are 0 now, as the reference steps then

  const at::NoGradGuard no_grad;
  const std::vector<std::string> names = s.detector->parameter_names();
  const std::vector<at::Tensor> weights = s.detector->parameters();
  if (finite) s.regulariser.add_gradients(names, weights, gradients);
  const at::Tensor numbers = at::cat({loss.task.detach().view(1), s.regulariser.cost(names, weights).view(1),
                                      tensor::norm_of_all(gradients).view(1), loss.mean_costs.reshape(-1)});
  const at::Tensor sick = queue.judge(numbers, input.plan);  // scalar; a sick step changes no weight

  clip_gradients(gradients, s.run.experiment.training_config().gradient_clip_norm());
  s.optimizer->step(gradients, s.learning_rate->at(s.step), &sick);
  s.average->update(s.step + 1);
  loss.mean_costs = at::where(sick.gt(0), at::zeros_like(loss.mean_costs), loss.mean_costs);
  s.loss->add_costs(loss);
}

// A teacher's answers have not been recorded into a graph yet; its steps launch their kernels one by one.
StepParts step_parts(Session& s) {
  StepParts parts{.detector = *s.detector,
                  .loss = *s.loss,
                  .regulariser = s.regulariser,
                  .optimizer = *s.optimizer,
                  .average = s.average.get(),
                  .scaling = &s.scaling,
                  .clip_norm = s.run.experiment.training_config().gradient_clip_norm(),
                  .mean = s.mean.get(),
                  .buckets = s.buckets.get()};
  if (s.teacher) {
    parts.extra_cost = [&s](const at::Tensor& images, const model::Outputs& outputs) {
      return s.teacher->cost(images, outputs);
    };
    parts.graph = false;
  }
  return parts;
}

// The same on a GPU, where a step is recorded once and replayed; see gpu_step.h.
void take_gpu_step(Session& s, const StepInput& input, PixelSource& pixels, GpuStep& step, StepQueue& queue) {
  const at::Tensor images = pixels.make(input.plan, input.pixels);
  const loss::Targets targets = s.loss->upload(host_targets(input.targets));
  const double limit = s.monitor.norm_limit();
  const at::Tensor numbers =
      step.take(images, targets,
                {.learning_rate = s.learning_rate->at(s.step), .norm_limit = limit, .step = s.step + 1});
  queue.add(numbers, input.plan, limit);
}

// Rank 0's newest whole checkpoint, "" where none was finished.
std::string newest_checkpoint(Session& s, const runs::CheckpointStore& store, RunLog& log,
                              Observer& observer) {
  base::Findings findings;
  auto newest = store.newest(&findings);
  for (const base::Finding& finding : findings) {
    observer.on_notice(Notice::kWarning, base::to_string(finding));
  }
  if (!newest && !store.steps().empty()) {
    throw base::Error(base::ExitCode::kRefused, "no checkpoint of this run is whole, so it cannot go on",
                      s.run.folder.checkpoints().string(),
                      "put a copy of a checkpoint back, or begin again with --force instead of --resume");
  }
  if (!newest && (!findings.empty() || !log.metrics().read().empty())) {
    observer.on_notice(Notice::kWarning, "no checkpoint was finished; beginning again");
  }
  return newest ? std::move(newest->bytes) : "";
}

void resume(Session& s, const runs::CheckpointStore& store, RunLog* log, Observer& observer) {
  std::string bytes;
  if (s.is_first()) bytes = newest_checkpoint(s, store, *log, observer);
  if (s.options.group) bytes = s.options.group->broadcast(std::move(bytes));
  if (bytes.empty()) {
    if (log) log->metrics().drop_after(0);  // of a run that was stopped before its first checkpoint
    return;
  }
  const Checkpoint checkpoint = decode_checkpoint(bytes, s.run.folder.checkpoints().string());
  s.restore(checkpoint);
  if (s.step > s.total_steps()) {
    throw base::Error(base::ExitCode::kUsage,
                      fmt::format("{} epochs end at step {}, but {} steps are trained already", s.epochs(),
                                  s.total_steps(), s.step),
                      "--epochs", "give at least as many as have been trained, or leave it away");
  }
  if (log) log->metrics().drop_after(checkpoint.step);
  observer.on_notice(Notice::kInfo, fmt::format("resumed after step {} of {} (epoch {} of {})", s.step,
                                                s.total_steps(), s.position(s.step).epoch, s.epochs()));
}

// The user's wish to stop, which reaches the ranks at different moments: all of them act on it after the same
// step. Beside a GPU the question is asked now and then, for its answer comes over the network.
bool stop_wanted(const Session& s) {
  constexpr std::int64_t kGpuSteps = 8;
  const bool mine = s.options.stop.stop_requested();
  if (!s.options.group) return mine;
  s.options.group->throw_if_failed();
  return (s.options.device == "cpu" || s.step % kGpuSteps == 0) && s.options.group->any(mine);
}

// Steps until the run ends, the schedule stops it or the user does. True when the user did.
bool run_steps(Session& s, EpochEnd& epoch_end, Observer& observer) {
  if (s.step >= s.total_steps()) {
    observer.on_notice(Notice::kInfo, "nothing is left to train; more --epochs would go on");
    return false;
  }
  const bool on_cpu = s.options.device == "cpu";
  s.spent.begin("pictures to the device");
  const std::unique_ptr<PixelSource> pixels = make_pixel_source(
      *s.train_pictures, s.options.device, detector_options(s.run.experiment, "").precision);
  s.spent.begin("first steps");
  StepInputs inputs(*s.train_pictures, *s.planner, s.target_options,
                    {.first_step = s.step,
                     .last_step = s.total_steps(),
                     .with_pixels = pixels->needs_host_pixels(),
                     .threads = loader_threads(s),
                     .ahead = loader_threads(s) + 1});
  StepQueue queue(s, observer);
  StepReports reports(s, observer);
  std::unique_ptr<GpuStep> gpu_step;
  if (GpuStep::possible(*s.detector)) {
    gpu_step = std::make_unique<GpuStep>(step_parts(s));
    const std::vector<std::string> slow = s.detector->unfused_norms();
    if (!slow.empty()) {
      observer.on_notice(Notice::kInfo,
                         fmt::format("{} batch norms are computed by LibTorch, not by the faster "
                                     "kernels: {}",
                                     slow.size(), fmt::join(slow, ", ")));
    }
  }
  while (!inputs.done() && !s.learning_rate->stop()) {
    if (stop_wanted(s)) {
      queue.read();
      if (gpu_step) gpu_step->read_scaling();
      return true;
    }
    gpu_step ? take_gpu_step(s, inputs.next(), *pixels, *gpu_step, queue)
             : take_step(s, inputs.next(), *pixels, queue);
    ++s.step;
    const bool epoch_ends = s.step % s.steps_per_epoch() == 0;
    // A CPU has nothing to wait for; a GPU is read when a log report is due.
    if (on_cpu || reports.log_is_due() || epoch_ends) {
      queue.read();
      if (gpu_step) gpu_step->read_scaling();
      // What a GPU computed beside a rank that is gone is nothing to judge or to save.
      if (s.options.group) s.options.group->throw_if_failed();
      reports.after_steps();
      s.spent.begin("steps");
      epoch_end.poll();
    }
    if (epoch_ends) epoch_end.run(reports);
  }
  return false;
}

}  // namespace

TrainResult train(const PreparedRun& run, const TrainOptions& options, Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const bool first = options.group == nullptr || options.group->is_first();
  const std::unique_ptr<RunLog> log = first ? std::make_unique<RunLog>(run.folder) : nullptr;
  Observers everybody(log ? std::vector<Observer*>{&observer, log.get()} : std::vector<Observer*>{});
  if (log) log->status().write(runs::Status::kStarted, "Starting training.");
  try {
    set_up_library(run.experiment.training_config(), options.group);
    // While the pictures are read.
    std::future<void> device_awake = std::async(
        std::launch::async, [&options] { tensor::wake_up(tensor::device_from_name(options.device)); });
    Session session(run, options, everybody);
    session.spent.begin("waking the device");
    device_awake.get();
    session.spent.begin("state");
    if (!session.val_pictures) {
      everybody.on_notice(
          Notice::kWarning,
          "the data has no validation pictures: there will be no mAP and no best.safetensors");
    }
    const runs::CheckpointStore store(run.folder.checkpoints(), options.keep_checkpoints);
    resume(session, store, log.get(), everybody);
    EpochEnd epoch_end(session, store, log.get(), everybody);
    TrainResult result;
    result.interrupted = run_steps(session, epoch_end, everybody);
    if (result.interrupted) {
      epoch_end.save_checkpoint();
      if (log) log->status().write(runs::Status::kRunning, "Interrupted; the run can be resumed.");
    } else {
      epoch_end.finish();
      if (log) log->status().write(runs::Status::kSuccess, "Training finished.");
    }
    session.spent.end();
    everybody.on_notice(Notice::kInfo, "where the time went: " + session.spent.sentence());
    result.steps = session.step;
    result.epochs = session.step / session.steps_per_epoch();
    result.best = session.best;
    result.last_map = epoch_end.last_map();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  } catch (const std::exception& error) {
    if (options.group) options.group->fail(error.what());
    if (log) log->status().write(runs::Status::kFailure, error.what(), runs::Verbosity::kError);
    throw;
  }
}

}  // namespace maskfit::train
