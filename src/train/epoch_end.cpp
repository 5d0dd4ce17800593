#include "train/epoch_end.h"

#include <ATen/core/grad_mode.h>

#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "loss/loss_tensors.h"
#include "model/outputs.h"
#include "network/model_file.h"
#include "report/report.h"
#include "spec/print.h"
#include "tensor/array.h"
#include "train/finished_model.h"
#include "train/run_report.h"

namespace maskfit::train {
namespace {

constexpr std::int64_t kDefaultCheckpointInterval = 10;  // epochs, the reference's
// Where epochs are long, nobody should lose more than this.
constexpr std::chrono::minutes kLongestUnsaved{5};
constexpr int kWorstPictures = 20, kExamplePictures = 16;  // in the report

}  // namespace

EpochEnd::EpochEnd(Session& session, const runs::CheckpointStore& store, RunLog* log, Observer& observer)
    : s_(session),
      store_(store),
      log_(log),
      observer_(observer),
      beside_gpu_(session.options.device != "cpu"),
      network_(session.detector->network()),
      last_save_(std::chrono::steady_clock::now()) {
  if (s_.val_pictures)
    pixels_ = std::make_unique<PlainPixels>(*s_.val_pictures, s_.options.device, /*keep=*/true);
}

void EpochEnd::run(StepReports& reports) {
  reports.end_epoch();
  s_.loss->update_weights(s_.loss->take_cost_sums());
  s_.monitor.begin_epoch();
  const std::int64_t epoch = s_.step / s_.steps_per_epoch();
  const spec::Experiment& experiment = s_.run.experiment;
  if (s_.val_pictures && validation_is_due(epoch, s_.epochs(), experiment.evaluation_config())) validate();

  const std::int64_t wanted = experiment.training_config().checkpoint_interval();
  const std::int64_t interval = wanted > 0 ? wanted : kDefaultCheckpointInterval;
  const bool long_ago = std::chrono::steady_clock::now() - last_save_ > kLongestUnsaved;
  if (epoch % interval == 0 || epoch == s_.epochs() || long_ago) checkpoint_is_due();
  reports.restart_clock();
}

at::Tensor EpochEnd::validation_cost(const model::Outputs& outputs, std::int64_t first,
                                     std::int64_t count) const {
  const at::NoGradGuard no_grad;
  std::vector<boxes::Truths> truths;
  for (std::int64_t i = 0; i < count; ++i) truths.push_back(s_.val_pictures->truths_in_network(first + i));
  const std::vector<float> weights(static_cast<std::size_t>(count), 1.0f);
  const TargetBatch batch = make_targets(truths, weights, s_.target_options);
  const loss::Targets targets = s_.loss->upload(host_targets(batch));
  return s_.loss->compute(outputs.bbox, outputs.cov_logits, outputs.cov, targets, /*over_ranks=*/false).task;
}

ValidationOptions EpochEnd::validation_options() {
  return {.reference_exact = s_.options.reference_exact,
          .stop = {},  // a validation once begun is finished: what it says is part of the run's state
          .unmapped_labels = unmapped_labels(s_.run.data.val, s_.run.classes),
          .cost = [this](const model::Outputs& outputs, std::int64_t first,
                         std::int64_t count) { return validation_cost(outputs, first, count); },
          .pixels = pixels_.get(),
          .progress = {},
          .group = s_.options.group};
}

void EpochEnd::validate() {
  settle();
  const Span span(s_.spent, "validation", "steps");
  s_.take_statistics_of_first();
  const Position at = s_.position(s_.step);
  // A schedule that listens has to know the cost before the next step; ranks meet to put their shares
  // together.
  const bool wait = !beside_gpu_ || s_.options.group != nullptr || s_.learning_rate->listens_to_validation();
  auto snapshot = wait ? nullptr : std::make_shared<const Snapshot>(s_);
  std::optional<Validation> validation;
  {
    const WeightAverage::InUse averaged(*s_.average);
    // The step on a GPU keeps the copies itself, and those are of the weights, not of their average.
    s_.detector->refresh_copies();
    if (wait) {
      validation = train::validate(*s_.detector, *s_.val_pictures, s_.run.experiment, validation_options());
    } else {
      pending_.emplace(
          Pending{PendingValidation(*s_.detector, *s_.val_pictures, s_.run.experiment, validation_options()),
                  std::move(snapshot), at});
    }
  }
  s_.detector->refresh_copies();
  last_validated_step_ = s_.step;
  if (validation) take_in(std::move(*validation), nullptr, at);
}

void EpochEnd::poll() {
  if (pending_ && pending_->validation.ready()) settle();
}

void EpochEnd::settle() {
  if (!pending_) return;
  const Span span(s_.spent, "validation", "steps");
  Validation validation = pending_->validation.take();
  const Pending pending = std::move(*pending_);
  pending_.reset();
  take_in(std::move(validation), pending.snapshot, pending.at);
  if (pending.save) write_checkpoint(pending.snapshot, pending.at.step);
}

void EpochEnd::take_in(Validation validation, std::shared_ptr<const Snapshot> snapshot, const Position& at) {
  last_validation_ = std::move(validation);
  const evaluate::Evaluation& evaluation = last_validation_->evaluation;
  // The schedule of every rank listens to it.
  last_validation_->detected.cost = of_first(last_validation_->detected.cost);
  s_.learning_rate->observe(at.epoch, last_validation_->detected.cost, at.step);
  if (!s_.is_first()) return;
  const bool best = evaluation.map > s_.best.map;
  if (best) {
    s_.best = {evaluation.map, at.epoch};
    if (!snapshot) snapshot = std::make_shared<const Snapshot>(s_);
    write_model(s_.run.folder.best_model(), std::move(snapshot), at, evaluation);
  }
  observer_.on_validation({.at = at,
                           .evaluation = &evaluation,
                           .validation_cost = last_validation_->detected.cost,
                           .seconds = last_validation_->seconds,
                           .best = best,
                           .diagnosis = last_validation_->diagnosis});
}

double EpochEnd::last_map() const {
  return last_validation_ ? last_validation_->evaluation.map : std::numeric_limits<double>::quiet_NaN();
}

double EpochEnd::of_first(double value) const {
  if (!s_.options.group) return value;
  const std::string bytes =
      s_.options.group->broadcast({reinterpret_cast<const char*>(&value), sizeof(value)});
  MASKFIT_CHECK(bytes.size() == sizeof(value), "{} bytes", bytes.size());
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

void EpochEnd::checkpoint_is_due() {
  const Span span(s_.spent, "checkpoints", "steps");
  last_save_ = std::chrono::steady_clock::now();
  if (pending_ && pending_->at.step == s_.step) {
    pending_->save = true;
  } else {
    settle();
    write_checkpoint(std::make_shared<const Snapshot>(s_), s_.step);
  }
}

void EpochEnd::save_checkpoint() {
  settle();
  checkpoint_is_due();
  writer_.drain();
}

void EpochEnd::write_checkpoint(std::shared_ptr<const Snapshot> snapshot, std::int64_t step) {
  if (!s_.is_first()) return;
  writer_.submit([this, snapshot = std::move(snapshot), step, best = s_.best] {
    store_.save(step, encode_checkpoint(snapshot->checkpoint(best.map, best.epoch)));
  });
}

void EpochEnd::write_model(const std::filesystem::path& path, std::shared_ptr<const Snapshot> snapshot,
                           const Position& at, std::optional<evaluate::Evaluation> evaluation) {
  writer_.submit([this, path, snapshot = std::move(snapshot), at, evaluation = std::move(evaluation)] {
    network::write_model(path, finished_model(snapshot->averaged_network(network_), s_.run.experiment,
                                              {.data_digest = s_.run.data.digest,
                                               .epoch = at.step / at.steps_per_epoch,
                                               .step = at.step,
                                               .evaluation = evaluation ? &*evaluation : nullptr,
                                               .lineage = s_.lineage}));
  });
}

void EpochEnd::write_report() {
  const spec::Experiment& experiment = s_.run.experiment;
  report::Report page;
  page.title = s_.run.folder.path().filename().string();
  page.subtitle =
      fmt::format("{}, {}x{}, {} epochs", s_.detector->network().name, s_.train_pictures->canvas_size().width,
                  s_.train_pictures->canvas_size().height, s_.step / s_.steps_per_epoch());
  page.spec_text = spec::to_text(experiment);
  page.facts = {{"Data",
                 {{"Training pictures", std::to_string(s_.train_pictures->size())},
                  {"Validation pictures", std::to_string(s_.val_pictures ? s_.val_pictures->size() : 0)},
                  {"Digest", s_.run.data.digest.substr(0, 16)}}},
                {"Run",
                 {{"Steps", std::to_string(s_.step)},
                  {"Device", s_.options.device},
                  {"Best mAP", fmt::format("{:.4f} after epoch {}", s_.best.map, s_.best.epoch)}}}};
  add_curves(log_->metrics().read(), s_.class_names, s_.steps_per_epoch(), &page);
  if (last_validation_) {
    page.notes = last_validation_->diagnosis;
    add_evaluation(last_validation_->evaluation, last_validation_->detected.pictures, *s_.val_pictures,
                   kWorstPictures, kExamplePictures, &page);
  }
  report::write(s_.run.folder.report(), page);
}

void EpochEnd::finish() {
  // A run that was resumed after its last epoch, or ended by its schedule, has not been validated in this
  // session.
  if (s_.val_pictures && last_validated_step_ != s_.step && s_.step > 0) validate();
  settle();
  if (!s_.is_first()) return;
  const Span span(s_.spent, "report and model", "");
  write_model(s_.run.folder.model(), std::make_shared<const Snapshot>(s_), s_.position(s_.step),
              last_validation_ ? std::optional(last_validation_->evaluation) : std::nullopt);
  write_report();
  writer_.drain();
}

}  // namespace maskfit::train
