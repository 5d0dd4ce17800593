#include "postprocess/postprocess.h"

#include <algorithm>

#include "base/error.h"
#include "postprocess/dbscan.h"
#include "postprocess/decode.h"
#include "postprocess/nms.h"

namespace maskfit::postprocess {
namespace {

// Clusters that are high and confident enough, by number.
std::vector<Cluster> clusters_of(const Candidates& candidates, const ClassClustering& clustering,
                                 const Options& options) {
  const bool inference = options.path == Path::kInference;
  DbscanOptions dbscan_options;
  dbscan_options.eps = clustering.eps + (inference ? 1e-12 : 0.0);
  dbscan_options.regulariser = inference ? 0.01 : 1e-5;
  dbscan_options.min_weight = clustering.min_weight;
  const std::vector<int> labels = dbscan(candidates.boxes_in_network, candidates.coverage, dbscan_options);
  std::vector<Cluster> clusters = summarise(candidates, labels);
  std::erase_if(clusters, [&](const Cluster& cluster) {
    const double confidence = confidence_of(cluster, clustering.confidence);
    // Written so that a NaN confidence is dropped.
    const bool confident =
        inference ? confidence > clustering.cluster_threshold : confidence >= clustering.cluster_threshold;
    return !confident || cluster.box.height() <= clustering.minimum_height;
  });
  return clusters;
}

boxes::Detections by_dbscan(const Candidates& candidates, int class_index, const ClassClustering& clustering,
                            const Options& options) {
  boxes::Detections detections;
  for (const Cluster& cluster : clusters_of(candidates, clustering, options)) {
    detections.push_back(
        {cluster.box, class_index, static_cast<float>(confidence_of(cluster, clustering.confidence))});
  }
  return detections;
}

boxes::Detections by_nms(const Candidates& candidates, int class_index, const ClassClustering& clustering,
                         const Options& options) {
  boxes::Detections detections;
  for (const Kept& kept :
       nms(candidates.boxes_in_network, candidates.coverage, clustering.nms_iou, clustering.nms_threshold)) {
    const boxes::Box box = clustering.vote_iou > 0 ? voted_box(candidates, kept.index, clustering.vote_iou)
                                                   : candidates.boxes_in_network[kept.index];
    detections.push_back({box, class_index, options.reference_exact ? kept.reference_score : kept.score});
  }
  return detections;
}

// NMS among the members of the clusters that survive DBSCAN.
boxes::Detections by_hybrid(const Candidates& candidates, int class_index, const ClassClustering& clustering,
                            const Options& options) {
  Candidates members;
  for (const Cluster& cluster : clusters_of(candidates, clustering, options)) {
    for (const int i : cluster.members) {
      members.boxes_in_network.push_back(candidates.boxes_in_network[i]);
      members.coverage.push_back(candidates.coverage[i]);
    }
  }
  return by_nms(members, class_index, clustering, options);
}

}  // namespace

boxes::Detections cluster(const Candidates& candidates, int class_index, const ClassClustering& clustering,
                          const Options& options) {
  boxes::Detections detections;
  switch (clustering.algorithm) {
    case Algorithm::kDbscan:
      detections = by_dbscan(candidates, class_index, clustering, options);
      break;
    case Algorithm::kNms:
      detections = by_nms(candidates, class_index, clustering, options);
      break;
    case Algorithm::kHybrid:
      detections = by_hybrid(candidates, class_index, clustering, options);
      break;
  }
  std::stable_sort(
      detections.begin(), detections.end(),
      [](const boxes::Detection& a, const boxes::Detection& b) { return a.confidence > b.confidence; });
  return detections;
}

boxes::Detections detections_from_grids(const OutputGrids& grids, std::span<const ClassClustering> clustering,
                                        const Options& options) {
  MASKFIT_CHECK(static_cast<int>(clustering.size()) == grids.classes, "clustering {} classes {}",
                clustering.size(), grids.classes);
  boxes::Detections all;
  for (int c = 0; c < grids.classes; ++c) {
    const Candidates candidates = decode(grids, c, clustering[c].coverage_threshold, options);
    for (boxes::Detection& detection : cluster(candidates, c, clustering[c], options)) {
      detection.box = clip_in_order(detection.box, static_cast<float>(grids.geometry.input_width),
                                    static_cast<float>(grids.geometry.input_height));
      all.push_back(detection);
    }
  }
  return all;
}

boxes::Detections detections_from_grids(const OutputGrids& grids, const spec::PostProcessingConfig& config,
                                        std::span<const std::string> class_names, const Options& options) {
  return detections_from_grids(grids, clustering_from_spec(config, class_names, options), options);
}

boxes::Detections confident(const boxes::Detections& detections, float threshold) {
  boxes::Detections kept;
  std::copy_if(detections.begin(), detections.end(), std::back_inserter(kept),
               [&](const boxes::Detection& detection) { return detection.confidence >= threshold; });
  return kept;
}

boxes::Detections rescale(const boxes::Detections& detections_in_network, float factor_x, float factor_y) {
  boxes::Detections detections = detections_in_network;
  for (boxes::Detection& detection : detections)
    detection.box = boxes::scale(detection.box, factor_x, factor_y);
  return detections;
}

}  // namespace maskfit::postprocess
