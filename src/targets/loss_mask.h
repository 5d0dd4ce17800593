#pragma once

// Which cells count in the loss, and how much (spec 2.6): loss_mask_label_filter, ignored boxes, source
// weights.

#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"
#include "targets/label_classes.h"

namespace maskfit::targets {

// Factors of the cost, one plane a class and objective, row-major [grid_height][grid_width].
struct LossMasks {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::vector<float> coverage;  // [classes][H][W]
  std::vector<float> box;       // [classes][H][W]  the same for L, T, R and B
};

// A label as the filters see it.
struct MaskLabel {
  boxes::Box box_in_network;
  std::string source_class;  // as in the label file
  std::string target_class;  // after the mapping; "" when nothing matched
};

// 1 in every cell that any of the boxes touches: one of 5 x 5 samples (at .1, .3, .5, .7, .9) lies in x1 <= x
// < x2 and y1 <= y < y2. [grid_height][grid_width].
std::vector<float> touched_cells(std::span<const boxes::Box> boxes_in_grid, int grid_width, int grid_height);

// 1 outside the touched cells and `multiplier` inside. preserve_coverage, when given, is a coverage target of
// the same size: its cells above 0 stay 1.
std::vector<float> mask_plane(std::span<const boxes::Box> boxes_in_grid, int grid_width, int grid_height,
                              float multiplier, std::span<const float> preserve_coverage = {});

// What a filter compares and how.
struct MaskOptions {
  ClassMapping class_mapping;
  // The reference compares source-class filters with the label's already mapped name, takes a crop rectangle
  // with any zero side as "every label", and skips source weights at batch size 1. Off: source names are
  // compared, and a zero right or bottom side means "no limit".
  bool reference_exact = false;
};

LossMasks all_ones(const boxes::GridGeometry& geometry, int classes);

// The masks of the spec's filters. coverage_targets: [classes][H][W], read with preserve_ground_truth.
// Throws base::Error (kRefused) for a filter that names an unknown class or objective (known: cov, bbox).
LossMasks loss_masks(std::span<const MaskLabel> labels, const spec::ObjectiveLabelFilter& filter,
                     std::span<const std::string> class_names, const boxes::GridGeometry& geometry,
                     std::span<const float> coverage_targets, const MaskOptions& options);

// Takes the cells under ignored truths out of every class' loss, except cells where that class has a target
// (> 0).
void mask_ignored(std::span<const boxes::Truth> truths_in_network, std::span<const float> coverage_targets,
                  LossMasks* masks);

// Multiplies everything by the picture's source weight.
void apply_source_weight(float weight, int batch_size, const MaskOptions& options, LossMasks* masks);

}  // namespace maskfit::targets
