#pragma once

// From grids to boxes as DeepStream's nvinfer does it: its built-in DetectNet parser and its clustering
// (spec 7.2 of model_prune_export), so that what a device will show can be computed here. Decoding, NMS and
// mode 4 follow the published rules to the letter. DBSCAN lives in a library without source: here it is
// DBSCAN over 1 - IoU with minBoxes neighbours, clusters of enough coverage and a side of at most 60 pixels a
// member, their mean box and summed coverage.

#include <limits>
#include <span>
#include <vector>

#include "postprocess/postprocess.h"

namespace maskfit::postprocess {

// What the parser assumes of every model; a network trained with another box scale or offset cannot be used
// with it.
inline constexpr float kNvinferBoxScale = 35.0f, kNvinferBoxOffset = 0.5f;

enum class NvinferClusterMode { kGroupRectangles = 0, kDbscan = 1, kNms = 2, kHybrid = 3, kNone = 4 };

// [class-attrs-<i>]; defaults are nvinfer's own.
struct NvinferClass {
  float pre_cluster_threshold = 0.2f;  // coverage of a cell
  float post_cluster_threshold = 0;    // confidence of a result: kept when above
  float nms_iou_threshold = 0.3f;      // overlap up to which two boxes both stay
  float eps = 0;                       // DBSCAN: distance of neighbours, 1 - IoU
  int min_boxes = 0;                   // DBSCAN: neighbours of a core point; 0 switches clustering off
  float dbscan_min_score = 0;          // DBSCAN: summed coverage of a cluster
  int topk = -1;                       // most confident results kept; below 0: all
  // Of results, in pixels of the frame; a maximum of 0 is none.
  float min_width = 0, min_height = 0, max_width = 0, max_height = 0;
};

// The parser's box of one cell, and whether it keeps it (right of left, below top after clamping to the
// input's pixels).
bool nvinfer_box(const boxes::GridGeometry& geometry, int column, int row, const float sides[4],
                 boxes::Box* box);

// Class by class, each by descending confidence. Cells where a number is not finite are dropped. Throws
// base::Error (kRefused) for the modes 0 and 3, whose results depend on OpenCV's or closed code.
boxes::Detections detections_by_nvinfer(const OutputGrids& grids, NvinferClusterMode mode,
                                        std::span<const NvinferClass> classes);

}  // namespace maskfit::postprocess
