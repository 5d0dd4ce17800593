#include "postprocess/nvinfer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "postprocess/dbscan.h"

namespace maskfit::postprocess {
namespace {

constexpr double kAreaToHits = 60;  // pixels of side a member of a cluster

float clamped(float value, int limit) {
  const float last = static_cast<float>(limit);
  if (value >= last) return last - 1;
  return value < 0 ? 0 : value;
}

Candidates candidates_of(const OutputGrids& grids, int c, float threshold) {
  const std::size_t cells = static_cast<std::size_t>(grids.geometry.cells());
  Candidates found;
  for (int row = 0; row < grids.geometry.grid_height; ++row) {
    for (int column = 0; column < grids.geometry.grid_width; ++column) {
      const std::size_t cell = static_cast<std::size_t>(row) * grids.geometry.grid_width + column;
      const float coverage = grids.coverage[c * cells + cell];
      if (!(coverage >= threshold)) continue;
      float sides[4];
      for (std::size_t s = 0; s < 4; ++s) sides[s] = grids.box[(4 * c + s) * cells + cell];
      boxes::Box box;
      if (!nvinfer_box(grids.geometry, column, row, sides, &box)) continue;
      found.boxes_in_network.push_back(box);
      found.coverage.push_back(coverage);
    }
  }
  return found;
}

boxes::Detections as_they_are(const Candidates& candidates, int c) {
  boxes::Detections all;
  for (std::size_t i = 0; i < candidates.coverage.size(); ++i) {
    all.push_back({candidates.boxes_in_network[i], c, candidates.coverage[i]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.confidence > b.confidence; });
  return all;
}

boxes::Detections by_nms(const Candidates& candidates, int c, float iou_threshold) {
  boxes::Detections kept;
  for (const boxes::Detection& candidate : as_they_are(candidates, c)) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const boxes::Detection& better) {
      return boxes::iou(candidate.box, better.box) > iou_threshold;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

boxes::Detections by_dbscan(const Candidates& candidates, int c, const NvinferClass& options) {
  if (options.min_boxes <= 0) return as_they_are(candidates, c);
  // One vote a box: minBoxes counts neighbours, whatever their coverage.
  const std::vector<float> ones(candidates.coverage.size(), 1.0f);
  const std::vector<int> labels =
      dbscan(candidates.boxes_in_network, ones,
             {.eps = options.eps, .regulariser = 1e-9, .min_weight = static_cast<double>(options.min_boxes)});
  boxes::Detections found;
  for (const Cluster& cluster : summarise(candidates, labels)) {
    const double side = std::sqrt(static_cast<double>(cluster.box.area()));
    if (cluster.sum_coverage < options.dbscan_min_score) continue;
    if (side / static_cast<double>(cluster.members.size()) > kAreaToHits) continue;
    found.push_back({cluster.box, c, static_cast<float>(cluster.sum_coverage)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.confidence > b.confidence; });
  return found;
}

}  // namespace

bool nvinfer_box(const boxes::GridGeometry& geometry, int column, int row, const float sides[4],
                 boxes::Box* box) {
  const int stride_x = (geometry.input_width + geometry.grid_width - 1) / geometry.grid_width;
  const int stride_y = (geometry.input_height + geometry.grid_height - 1) / geometry.grid_height;
  const float x = (static_cast<float>(column * stride_x) + kNvinferBoxOffset) / kNvinferBoxScale;
  const float y = (static_cast<float>(row * stride_y) + kNvinferBoxOffset) / kNvinferBoxScale;
  const float x1 = -kNvinferBoxScale * (sides[0] - x), y1 = -kNvinferBoxScale * (sides[1] - y);
  const float x2 = kNvinferBoxScale * (sides[2] + x), y2 = kNvinferBoxScale * (sides[3] + y);
  if (!std::isfinite(x1) || !std::isfinite(y1) || !std::isfinite(x2) || !std::isfinite(y2)) return false;
  *box = {clamped(x1, geometry.input_width), clamped(y1, geometry.input_height),
          clamped(x2, geometry.input_width), clamped(y2, geometry.input_height)};
  return box->x2 >= box->x1 && box->y2 >= box->y1;
}

boxes::Detections detections_by_nvinfer(const OutputGrids& grids, NvinferClusterMode mode,
                                        std::span<const NvinferClass> classes) {
  if (mode == NvinferClusterMode::kGroupRectangles || mode == NvinferClusterMode::kHybrid) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("cluster-mode={} cannot be computed here", static_cast<int>(mode)),
                      "cluster-mode", "use 1 (DBSCAN), 2 (NMS) or 4 (none)");
  }
  MASKFIT_CHECK(static_cast<int>(classes.size()) == grids.classes, "{} entries for {} classes",
                classes.size(), grids.classes);
  boxes::Detections all;
  for (int c = 0; c < grids.classes; ++c) {
    const NvinferClass& options = classes[static_cast<std::size_t>(c)];
    const Candidates candidates = candidates_of(grids, c, options.pre_cluster_threshold);
    boxes::Detections found = mode == NvinferClusterMode::kNms
                                  ? by_nms(candidates, c, options.nms_iou_threshold)
                              : mode == NvinferClusterMode::kDbscan ? by_dbscan(candidates, c, options)
                                                                    : as_they_are(candidates, c);
    if (options.post_cluster_threshold > 0) {
      std::erase_if(found, [&](const auto& d) { return !(d.confidence > options.post_cluster_threshold); });
    }
    if (options.topk >= 0 && found.size() > static_cast<std::size_t>(options.topk)) {
      found.resize(static_cast<std::size_t>(options.topk));
    }
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace maskfit::postprocess
