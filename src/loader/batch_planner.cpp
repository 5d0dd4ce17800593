#include "loader/batch_planner.h"

#include "augment/make_plan.h"
#include "augment/truths.h"
#include "base/error.h"

namespace maskfit::loader {
namespace {

augment::Options without_mosaic(augment::Options options) {
  options.mosaic_probability = 0;
  return options;
}

boxes::Truths planned_truths(const augment::Plan& plan, const PictureSet& pictures,
                             const augment::Options& options) {
  std::vector<const boxes::Truths*> in_canvas;
  for (const augment::Tile& tile : plan.tiles) in_canvas.push_back(&pictures.truths_in_network(tile.sample));
  return augment::truths_in_network(plan, in_canvas, options);
}

}  // namespace

BatchPlanner::BatchPlanner(const PictureSet& pictures, PlannerOptions options)
    : pictures_(pictures),
      options_(std::move(options)),
      whole_pictures_(without_mosaic(options_.augmentation)),
      order_(options_.sources, options_.sampling, options_.batch * options_.ranks, options_.seed) {
  for (const Source& source : options_.sources) {
    MASKFIT_CHECK(source.first >= 0 && source.first + source.count <= pictures.size(),
                  "first={} count={} of {}", source.first, source.count, pictures.size());
  }
}

std::shared_ptr<const BatchPlanner::Order> BatchPlanner::order_of(std::int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  const int slot = static_cast<int>(epoch % 2);
  if (remembered_epoch_[slot] != epoch) {
    remembered_[slot] = std::make_shared<const Order>(order_.epoch_order(epoch));
    remembered_epoch_[slot] = epoch;
  }
  return remembered_[slot];
}

BatchPlan BatchPlanner::plan(std::int64_t epoch, std::int64_t step) const {
  return plan_of_rank(epoch, step, options_.rank);
}

BatchPlan BatchPlanner::plan_of_rank(std::int64_t epoch, std::int64_t step, int rank) const {
  MASKFIT_CHECK(epoch >= 0 && step >= 0 && step < steps_per_epoch(), "epoch={} step={} of {}", epoch, step,
                steps_per_epoch());
  const bool mosaics = epoch < options_.epochs - options_.mosaic_off_last_epochs;
  const augment::Options& augmentation = mosaics ? options_.augmentation : whole_pictures_;
  const std::shared_ptr<const Order> order = order_of(epoch);
  const auto content_size = [this](std::int64_t picture) { return pictures_.content_size(picture); };
  BatchPlan batch;
  batch.epoch = epoch;
  batch.step = step;
  for (int i = 0; i < options_.batch; ++i) {
    const std::int64_t place = (step * options_.ranks + rank) * options_.batch + i;
    const std::int64_t picture = (*order)[place];
    // The draw is the place in the epoch, not the picture: one that comes twice is changed twice.
    batch.plans.push_back(augment::make_plan(augmentation, {.sample = picture,
                                                            .seed = options_.seed,
                                                            .epoch = static_cast<std::uint64_t>(epoch),
                                                            .draw = static_cast<std::uint64_t>(place),
                                                            .sample_count = pictures_.size(),
                                                            .content_size = content_size}));
    batch.samples.push_back(picture);
    batch.truths_in_network.push_back(planned_truths(batch.plans.back(), pictures_, augmentation));
    batch.source_weights.push_back(order_.source_weight(picture));
  }
  return batch;
}

}  // namespace maskfit::loader
