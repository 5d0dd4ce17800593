#include "train/target_batch.h"

#include <algorithm>

#include "base/error.h"

namespace maskfit::train {
namespace {

void append(std::vector<float>& to, const std::vector<float>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

bool has_ignored(const boxes::Truths& truths) {
  return std::any_of(truths.begin(), truths.end(), [](const boxes::Truth& truth) { return truth.ignore; });
}

}  // namespace

TargetBatch make_targets(const std::vector<boxes::Truths>& truths_in_network,
                         const std::vector<float>& source_weights, const TargetOptions& options) {
  MASKFIT_CHECK(truths_in_network.size() == source_weights.size(), "{} lists of truths, {} weights",
                truths_in_network.size(), source_weights.size());
  TargetBatch batch;
  batch.count = static_cast<int>(truths_in_network.size());
  batch.classes = options.classes;
  batch.geometry = options.geometry;
  if (options.task_aligned) {
    batch.truths = loss::pad_truths(truths_in_network);
    return batch;
  }
  // Most batches have neither ignored boxes nor weights; then there are no masks to carry about.
  const bool masked =
      std::any_of(truths_in_network.begin(), truths_in_network.end(), has_ignored) ||
      std::any_of(source_weights.begin(), source_weights.end(), [](float w) { return w != 1; });
  for (std::size_t i = 0; i < truths_in_network.size(); ++i) {
    const targets::TargetGrids grids =
        targets::rasterise(truths_in_network[i], options.shapes, options.geometry, options.coding);
    append(batch.coverage, grids.coverage);
    append(batch.coverage_norm, grids.coverage_norm);
    append(batch.box, grids.box);
    if (!masked) continue;
    targets::LossMasks masks = targets::all_ones(options.geometry, options.classes);
    targets::mask_ignored(truths_in_network[i], grids.coverage, &masks);
    const targets::MaskOptions mask_options{.class_mapping = {}, .reference_exact = options.reference_exact};
    targets::apply_source_weight(source_weights[i], batch.count, mask_options, &masks);
    append(batch.coverage_mask, masks.coverage);
    append(batch.box_mask, masks.box);
  }
  return batch;
}

loss::HostTargets host_targets(const TargetBatch& batch) {
  return {.count = batch.count,
          .coverage = batch.coverage,
          .coverage_norm = batch.coverage_norm,
          .box = batch.box,
          .coverage_mask = batch.coverage_mask,
          .box_mask = batch.box_mask,
          .truths = &batch.truths};
}

}  // namespace maskfit::train
