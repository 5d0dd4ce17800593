#pragma once

// Output grids of one picture -> boxes.

#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"

namespace maskfit::postprocess {

// One picture's network output, borrowed. coverage [classes][H][W] after the sigmoid; box [classes][4][H][W].
struct OutputGrids {
  boxes::GridGeometry geometry;
  int classes = 0;
  std::span<const float> coverage;
  std::span<const float> box;
};

// Decoded boxes and their coverages, one entry a cell (or those above a threshold).
struct Candidates {
  std::vector<boxes::Box> boxes_in_network;
  std::vector<float> coverage;
};

enum class Path {
  kEvaluation,  // boxes clipped to the input, IoU regulariser 1e-5, ">= threshold" (spec 7.1)
  kInference,   // no clipping before clustering, regulariser 0.01, "> threshold", x-major cell order
                // (spec 7.2-7.5)
};

struct Options {
  Path path = Path::kEvaluation;
  float scale = 35.0f, offset = 0.5f;
  // Restores the reference's quirks (docs/numerics.md): swapped thresholds in evaluation, permuted NMS
  // confidences.
  bool reference_exact = false;
};

enum class Algorithm { kDbscan, kNms, kHybrid };

enum class ConfidenceModel {
  kAggregateCoverage,  // sum of the cluster's coverages
  kMeanCoverage,       // (mean - min) / (max - min) of them
};

// How the candidates of one class become detections; ClusteringConfig with every rule about unset values
// applied.
struct ClassClustering {
  Algorithm algorithm = Algorithm::kDbscan;
  float coverage_threshold = 0;  // candidates: coverage > this
  // DBSCAN
  float eps = 0;                // neighbours: 1 - IoU <= eps
  float min_weight = 1;         // coverage that a neighbourhood needs to start a cluster
  float cluster_threshold = 0;  // on the cluster's confidence
  float minimum_height = 0;     // pixels; clusters: height > this
  ConfidenceModel confidence = ConfidenceModel::kAggregateCoverage;
  // NMS
  float nms_iou = 0.3f;        // a box is dropped when it overlaps a better one by more (inclusive pixels)
  float nms_threshold = 0.1f;  // on the coverage
  // Above 0: each kept box becomes the mean, weighted by coverage, of all candidates that overlap it by at
  // least this much. Not in the reference; sharpens boxes where a grid is coarse (docs/numerics.md).
  float vote_iou = 0;
};

// One entry a class name. Throws base::Error (kRefused) naming the class that has no entry, or for HYBRID in
// the evaluation path under reference_exact (the reference cannot do it).
std::vector<ClassClustering> clustering_from_spec(const spec::PostProcessingConfig& config,
                                                  std::span<const std::string> class_names,
                                                  const Options& options);
// The same for an inference spec, where the entry "default" stands in for a class without its own.
std::vector<ClassClustering> clustering_from_spec(const spec::BboxHandlerConfig& config,
                                                  std::span<const std::string> class_names,
                                                  const Options& options);

// Detections of all classes in network pixels, inside the input, class by class, each class by descending
// confidence. REQUIRES one entry of `clustering` a class of the grids.
boxes::Detections detections_from_grids(const OutputGrids& grids, std::span<const ClassClustering> clustering,
                                        const Options& options);

// The same, looking the spec up on every call.
boxes::Detections detections_from_grids(const OutputGrids& grids, const spec::PostProcessingConfig& config,
                                        std::span<const std::string> class_names, const Options& options);

// The clustering alone, for candidates of one class; boxes as they come out of it, by descending confidence.
boxes::Detections cluster(const Candidates& candidates, int class_index, const ClassClustering& clustering,
                          const Options& options);

// Keeps detections of at least this confidence.
boxes::Detections confident(const boxes::Detections& detections, float threshold);

// Stretches boxes from the network's input to the picture (spec 7.7).
boxes::Detections rescale(const boxes::Detections& detections_in_network, float factor_x, float factor_y);

}  // namespace maskfit::postprocess
