#include "targets/loss_mask.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "targets/stamp.h"

namespace maskfit::targets {
namespace {

// Cells [begin, end) of one axis with a sample in [low, high).
std::pair<int, int> touched_range(float low, float high, int cells) {
  if (!(low < high)) return {0, 0};
  int begin = static_cast<int>(std::clamp(std::floor(low), 0.0f, static_cast<float>(cells)));
  int end = static_cast<int>(std::clamp(std::ceil(high), 0.0f, static_cast<float>(cells)));
  while (begin < end && !touches_cell(low, high, begin)) ++begin;
  while (begin < end && !touches_cell(low, high, end - 1)) --end;
  return {begin, end};
}

bool dimensions_match(const spec::BboxDimensionsLabelFilter& filter, const boxes::Box& box) {
  const auto at_least = [](float limit, float value) { return limit == 0 || value >= limit; };
  const auto at_most = [](float limit, float value) { return limit == 0 || value <= limit; };
  return at_least(filter.min_width(), box.width()) && at_least(filter.min_height(), box.height()) &&
         at_most(filter.max_width(), box.width()) && at_most(filter.max_height(), box.height());
}

bool crop_matches(const spec::BboxCropLabelFilter& filter, const boxes::Box& box, bool reference_exact) {
  const float left = filter.crop_left(), right = filter.crop_right();
  const float top = filter.crop_top(), bottom = filter.crop_bottom();
  if (reference_exact && (left == 0 || right == 0 || top == 0 || bottom == 0)) return true;
  return box.x2 > left && (right == 0 || box.x1 < right) && box.y2 > top && (bottom == 0 || box.y1 < bottom);
}

bool source_class_matches(const spec::SourceClassLabelFilter& filter, const std::string& name) {
  return std::find(filter.source_class_names().begin(), filter.source_class_names().end(), name) !=
         filter.source_class_names().end();
}

// Is the label one of the target class' own, as the reference decides it?
bool belongs_to(const MaskLabel& label, const std::string& target_class, const MaskOptions& options) {
  if (!options.reference_exact) return label.target_class == target_class;
  // The reference looks the mapped name up among the source names, so only a name that maps to itself is
  // found.
  return std::any_of(options.class_mapping.begin(), options.class_mapping.end(), [&](const auto& pair) {
    return pair.second == target_class && base::to_lower(pair.first) == label.target_class;
  });
}

// The filters of one class and objective.
using Filters = std::vector<const spec::LabelFilter*>;

bool selected(const MaskLabel& label, const Filters& filters, const std::string& target_class,
              const MaskOptions& options) {
  bool by_geometry = false;
  for (const spec::LabelFilter* filter : filters) {
    switch (filter->label_filter_params_case()) {
      case spec::LabelFilter::kBboxDimensionsLabelFilter:
        by_geometry |= dimensions_match(filter->bbox_dimensions_label_filter(), label.box_in_network);
        break;
      case spec::LabelFilter::kBboxCropLabelFilter:
        by_geometry |=
            crop_matches(filter->bbox_crop_label_filter(), label.box_in_network, options.reference_exact);
        break;
      case spec::LabelFilter::kSourceClassLabelFilter:
        if (source_class_matches(filter->source_class_label_filter(),
                                 options.reference_exact ? label.target_class : label.source_class)) {
          return true;
        }
        break;
      case spec::LabelFilter::LABEL_FILTER_PARAMS_NOT_SET:
        break;
    }
  }
  return by_geometry && belongs_to(label, target_class, options);
}

void check_names(const spec::ObjectiveLabelFilter& filter, std::span<const std::string> class_names) {
  const auto refuse = [](const std::string& kind, const std::string& name, const std::string& field,
                         const std::vector<std::string>& known) {
    const std::string near = base::nearest_name(name, known);
    throw base::Error(base::ExitCode::kRefused, fmt::format("unknown {} '{}'", kind, name),
                      "loss_mask_label_filter.objective_label_filter_configs." + field,
                      near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                                   : fmt::format("did you mean '{}'?", near));
  };
  const std::vector<std::string> classes(class_names.begin(), class_names.end());
  const std::vector<std::string> objectives = {"cov", "bbox"};
  for (const auto& config : filter.objective_label_filter_configs()) {
    for (const auto& name : config.target_class_names()) {
      if (std::find(classes.begin(), classes.end(), name) == classes.end()) {
        refuse("class", name, "target_class_names", classes);
      }
    }
    for (const auto& name : config.objective_names()) {
      if (std::find(objectives.begin(), objectives.end(), name) == objectives.end()) {
        refuse("objective", name, "objective_names", objectives);
      }
    }
  }
}

template <typename Names>
bool names_or_all(const Names& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

Filters filters_of(const spec::ObjectiveLabelFilter& filter, const std::string& class_name,
                   const std::string& objective) {
  Filters filters;
  for (const auto& config : filter.objective_label_filter_configs()) {
    if (names_or_all(config.target_class_names(), class_name) &&
        names_or_all(config.objective_names(), objective)) {
      filters.push_back(&config.label_filter());
    }
  }
  return filters;
}

}  // namespace

std::vector<float> touched_cells(std::span<const boxes::Box> boxes_in_grid, int grid_width, int grid_height) {
  std::vector<float> plane(static_cast<std::size_t>(grid_width) * grid_height, 0.0f);
  for (const boxes::Box& box : boxes_in_grid) {
    // The box is a product of intervals, so a cell is touched when both its axes are.
    const auto [x_begin, x_end] = touched_range(box.x1, box.x2, grid_width);
    const auto [y_begin, y_end] = touched_range(box.y1, box.y2, grid_height);
    for (int y = y_begin; y < y_end; ++y) {
      std::fill(plane.begin() + y * grid_width + x_begin, plane.begin() + y * grid_width + x_end, 1.0f);
    }
  }
  return plane;
}

std::vector<float> mask_plane(std::span<const boxes::Box> boxes_in_grid, int grid_width, int grid_height,
                              float multiplier, std::span<const float> preserve_coverage) {
  std::vector<float> plane = touched_cells(boxes_in_grid, grid_width, grid_height);
  MASKFIT_CHECK(preserve_coverage.empty() || preserve_coverage.size() == plane.size(), "coverage {} cells {}",
                preserve_coverage.size(), plane.size());
  for (std::size_t i = 0; i < plane.size(); ++i) {
    const bool preserved = !preserve_coverage.empty() && preserve_coverage[i] > 0;
    plane[i] = plane[i] > 0 && !preserved ? multiplier : 1.0f;
  }
  return plane;
}

LossMasks all_ones(const boxes::GridGeometry& geometry, int classes) {
  const std::size_t size = static_cast<std::size_t>(classes) * geometry.cells();
  return {geometry, classes, std::vector<float>(size, 1.0f), std::vector<float>(size, 1.0f)};
}

LossMasks loss_masks(std::span<const MaskLabel> labels, const spec::ObjectiveLabelFilter& filter,
                     std::span<const std::string> class_names, const boxes::GridGeometry& geometry,
                     std::span<const float> coverage_targets, const MaskOptions& options) {
  check_names(filter, class_names);
  const std::size_t cells = static_cast<std::size_t>(geometry.cells());
  LossMasks masks = all_ones(geometry, static_cast<int>(class_names.size()));
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    for (const auto& [objective, plane] :
         {std::pair<std::string, float*>{"cov", masks.coverage.data() + c * cells},
          std::pair<std::string, float*>{"bbox", masks.box.data() + c * cells}}) {
      const Filters filters = filters_of(filter, class_names[c], objective);
      if (filters.empty()) continue;
      std::vector<boxes::Box> boxes_in_grid;
      for (const MaskLabel& label : labels) {
        if (selected(label, filters, class_names[c], options)) {
          boxes_in_grid.push_back(boxes::grid_from_network(label.box_in_network, geometry));
        }
      }
      const auto preserve = filter.preserve_ground_truth() ? coverage_targets.subspan(c * cells, cells)
                                                           : std::span<const float>();
      const std::vector<float> mask = mask_plane(boxes_in_grid, geometry.grid_width, geometry.grid_height,
                                                 filter.mask_multiplier(), preserve);
      std::copy(mask.begin(), mask.end(), plane);
    }
  }
  return masks;
}

void mask_ignored(std::span<const boxes::Truth> truths_in_network, std::span<const float> coverage_targets,
                  LossMasks* masks) {
  std::vector<boxes::Box> boxes_in_grid;
  for (const boxes::Truth& truth : truths_in_network) {
    if (truth.ignore) boxes_in_grid.push_back(boxes::grid_from_network(truth.box, masks->geometry));
  }
  if (boxes_in_grid.empty()) return;
  const boxes::GridGeometry& geometry = masks->geometry;
  const std::size_t cells = static_cast<std::size_t>(geometry.cells());
  MASKFIT_CHECK(coverage_targets.size() == masks->coverage.size(), "coverage {} masks {}",
                coverage_targets.size(), masks->coverage.size());
  for (int c = 0; c < masks->classes; ++c) {
    const std::vector<float> mask = mask_plane(boxes_in_grid, geometry.grid_width, geometry.grid_height, 0.0f,
                                               coverage_targets.subspan(c * cells, cells));
    for (std::size_t i = 0; i < cells; ++i) {
      masks->coverage[c * cells + i] *= mask[i];
      masks->box[c * cells + i] *= mask[i];
    }
  }
}

void apply_source_weight(float weight, int batch_size, const MaskOptions& options, LossMasks* masks) {
  if (options.reference_exact && batch_size == 1) return;
  for (float& value : masks->coverage) value *= weight;
  for (float& value : masks->box) value *= weight;
}

}  // namespace maskfit::targets
