// Spec messages -> ClassClustering: what an unset field means, and which threshold belongs to which
// algorithm.

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "postprocess/postprocess.h"

namespace maskfit::postprocess {
namespace {

Algorithm algorithm_of(const spec::ClusteringConfig& config) {
  switch (config.clustering_algorithm()) {
    case spec::ClusteringConfig::NMS:
      return Algorithm::kNms;
    case spec::ClusteringConfig::HYBRID:
      return Algorithm::kHybrid;
    default:
      return Algorithm::kDbscan;
  }
}

ClassClustering resolve(const spec::ClusteringConfig& config, const Options& options) {
  ClassClustering clustering;
  clustering.algorithm = algorithm_of(config);
  clustering.coverage_threshold = config.coverage_threshold();
  clustering.eps = config.dbscan_eps();
  clustering.min_weight = std::max(std::trunc(config.dbscan_min_samples()), 1.0f);
  clustering.minimum_height = static_cast<float>(config.minimum_bounding_box_height());
  clustering.cluster_threshold = config.dbscan_confidence_threshold();
  clustering.nms_iou = config.nms_iou_threshold();
  clustering.nms_threshold = config.nms_confidence_threshold();
  clustering.vote_iou = config.nms_vote_iou();
  if (options.path == Path::kInference) {
    if (clustering.nms_iou == 0) clustering.nms_iou = 0.3f;
    if (clustering.nms_threshold == 0) clustering.nms_threshold = 0.1f;
  } else if (options.reference_exact) {
    // The reference's evaluation hands each algorithm the other one's threshold.
    std::swap(clustering.cluster_threshold, clustering.nms_threshold);
  }
  return clustering;
}

ConfidenceModel confidence_model(const std::string& name, const std::string& where) {
  if (name.empty() || name == "aggregate_cov") return ConfidenceModel::kAggregateCoverage;
  if (name == "mean_cov") return ConfidenceModel::kMeanCoverage;
  throw base::Error(base::ExitCode::kRefused, fmt::format("unknown confidence model '{}'", name), where,
                    "use aggregate_cov or mean_cov");
}

[[noreturn]] void refuse_missing(const std::string& class_name, const std::string& where,
                                 const std::string& key) {
  throw base::Error(base::ExitCode::kRefused, fmt::format("class '{}' has no clustering entry", class_name),
                    where, fmt::format("add an entry with key \"{}\"", key));
}

}  // namespace

std::vector<ClassClustering> clustering_from_spec(const spec::PostProcessingConfig& config,
                                                  std::span<const std::string> class_names,
                                                  const Options& options) {
  const std::string where = "postprocessing_config.target_class_config";
  std::vector<ClassClustering> result;
  for (const std::string& name : class_names) {
    auto entry = config.target_class_config().find(name);
    if (entry == config.target_class_config().end()) entry = config.target_class_config().find("default");
    if (entry == config.target_class_config().end()) refuse_missing(name, where, name);
    result.push_back(resolve(entry->second.clustering_config(), options));
    if (result.back().algorithm == Algorithm::kHybrid && options.path == Path::kEvaluation &&
        options.reference_exact) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("class '{}': the reference cannot evaluate HYBRID", name), where,
                        "choose DBSCAN or NMS, or leave out --reference-exact");
    }
  }
  return result;
}

std::vector<ClassClustering> clustering_from_spec(const spec::BboxHandlerConfig& config,
                                                  std::span<const std::string> class_names,
                                                  const Options& options) {
  const std::string where = "bbox_handler_config.classwise_bbox_handler_config";
  std::vector<ClassClustering> result;
  for (const std::string& name : class_names) {
    auto entry = config.classwise_bbox_handler_config().find(name);
    if (entry == config.classwise_bbox_handler_config().end()) {
      entry = config.classwise_bbox_handler_config().find("default");
    }
    if (entry == config.classwise_bbox_handler_config().end()) refuse_missing(name, where, "default");
    ClassClustering clustering = resolve(entry->second.clustering_config(), options);
    clustering.confidence = confidence_model(entry->second.confidence_model(), where + "." + entry->first);
    // Where TLT 2.0 had this threshold.
    if (clustering.cluster_threshold == 0)
      clustering.cluster_threshold = entry->second.confidence_threshold();
    result.push_back(clustering);
  }
  return result;
}

}  // namespace maskfit::postprocess
