#pragma once

// The plan of every batch of a training: a pure function of (pictures, options, seed, epoch, step).

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "augment/options.h"
#include "loader/batch.h"
#include "loader/picture_set.h"
#include "loader/sample_order.h"

namespace maskfit::loader {

struct PlannerOptions {
  int batch = 1;  // pictures a step and rank
  int rank = 0, ranks = 1;
  std::uint64_t seed = 0;
  std::vector<Source> sources;  // ranges of the picture set
  SourceSampling sampling = SourceSampling::kProportional;
  augment::Options augmentation;
  std::int64_t epochs = 0;                  // length of the run
  std::int64_t mosaic_off_last_epochs = 0;  // the last epochs see whole pictures only
};

// Thread-safe.
class BatchPlanner {
 public:
  // `pictures` must outlive this. REQUIRES that the sources cover no more than its pictures.
  BatchPlanner(const PictureSet& pictures, PlannerOptions options);

  std::int64_t steps_per_epoch() const { return order_.steps_per_epoch(); }
  int batch() const { return options_.batch; }
  // Pictures a step over all ranks. Which they are depends on this number, not on how many ranks share them.
  int global_batch() const { return options_.batch * options_.ranks; }

  // epoch and step are 0-based. REQUIRES step < steps_per_epoch().
  // This rank's part: pictures [rank * batch, (rank + 1) * batch) of the step's.
  BatchPlan plan(std::int64_t epoch, std::int64_t step) const;
  BatchPlan plan_of_rank(std::int64_t epoch, std::int64_t step, int rank) const;
  int ranks() const { return options_.ranks; }

 private:
  using Order = std::vector<std::int64_t>;
  // Shuffling an epoch anew for each of its steps would cost O(pictures) a step; two epochs are remembered,
  // for work ahead crosses from one to the next.
  std::shared_ptr<const Order> order_of(std::int64_t epoch) const;

  const PictureSet& pictures_;
  PlannerOptions options_;
  augment::Options whole_pictures_;  // options_.augmentation without mosaics
  SampleOrder order_;
  mutable std::mutex mutex_;
  mutable std::int64_t remembered_epoch_[2] = {-1, -1};
  mutable std::shared_ptr<const Order> remembered_[2];
};

}  // namespace maskfit::loader
