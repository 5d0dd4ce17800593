#include "targets/rasterise.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "targets/draw.h"

namespace maskfit::targets {
namespace {

// The six planes of one class in the order of GradientIndex.
PlaneCanvas canvas_of_class(TargetGrids& grids, int class_index) {
  const std::size_t cells = static_cast<std::size_t>(grids.geometry.cells());
  std::vector<float*> planes = {grids.coverage.data() + class_index * cells,
                                grids.coverage_norm.data() + class_index * cells};
  for (int side = 0; side < 4; ++side) planes.push_back(grids.box.data() + (class_index * 4 + side) * cells);
  std::vector<GradientFlag> flags;
  for (int g = 0; g < kGradients; ++g) flags.push_back(detectnet_flag(g));
  return {grids.geometry.grid_width, grids.geometry.grid_height, std::move(planes), std::move(flags)};
}

}  // namespace

RasterShapes shapes_from_spec(const spec::BboxRasterizerConfig& config,
                              std::span<const std::string> class_names) {
  RasterShapes shapes;
  shapes.deadzone_radius = config.deadzone_radius();
  for (const std::string& name : class_names) {
    const auto entry = config.target_class_config().find(name);
    if (entry == config.target_class_config().end()) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("the rasteriser has no entry for class '{}'", name),
                        "bbox_rasterizer_config.target_class_config",
                        fmt::format("add target_class_config {{ key: \"{}\" value {{ ... }} }}", name));
    }
    const auto& value = entry->second;
    shapes.classes.push_back({value.cov_center_x(), value.cov_center_y(), value.cov_radius_x(),
                              value.cov_radius_y(), value.bbox_min_radius()});
  }
  return shapes;
}

std::vector<boxes::Truth> drawing_order(std::span<const boxes::Truth> truths_in_network) {
  std::vector<boxes::Truth> order;
  for (const boxes::Truth& truth : truths_in_network) {
    if (!truth.ignore) order.push_back(truth);
  }
  std::stable_sort(order.begin(), order.end(), [](const boxes::Truth& a, const boxes::Truth& b) {
    return std::tie(a.class_index, a.box.y2) < std::tie(b.class_index, b.box.y2);
  });
  return order;
}

TargetGrids rasterise(std::span<const boxes::Truth> truths_in_network, const RasterShapes& shapes,
                      const boxes::GridGeometry& geometry, const BoxCoding& coding) {
  const int classes = static_cast<int>(shapes.classes.size());
  const std::size_t cells = static_cast<std::size_t>(geometry.cells());
  TargetGrids grids{geometry, classes, {}, {}, {}};
  grids.coverage.resize(classes * cells);
  grids.coverage_norm.resize(classes * cells);
  grids.box.resize(classes * 4 * cells);

  const std::vector<boxes::Truth> order = drawing_order(truths_in_network);
  for (auto first = order.begin(); first != order.end();) {
    const int class_index = first->class_index;
    MASKFIT_CHECK(class_index >= 0 && class_index < classes, "class_index={} classes={}", class_index,
                  classes);
    PlaneCanvas canvas = canvas_of_class(grids, class_index);
    for (; first != order.end() && first->class_index == class_index; ++first) {
      const BoxStamp stamp =
          box_stamp(boxes::grid_from_network(first->box, geometry), shapes.classes[class_index],
                    shapes.deadzone_radius, geometry.stride_x(), geometry.stride_y(), coding);
      canvas.draw(stamp.stamp, stamp.gradients);
    }
  }
  return grids;
}

TargetGrids rasterise(std::span<const boxes::Truth> truths_in_network,
                      const spec::BboxRasterizerConfig& config, std::span<const std::string> class_names,
                      const boxes::GridGeometry& geometry, const BoxCoding& coding) {
  return rasterise(truths_in_network, shapes_from_spec(config, class_names), geometry, coding);
}

}  // namespace maskfit::targets
