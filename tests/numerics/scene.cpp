#include "tests/numerics/scene.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "targets/rasterise.h"

namespace maskfit::numerics {
namespace {

constexpr float kSide = 640;

boxes::Box random_face(base::Rng& rng) {
  const float width = 16 * std::exp(rng.uniform(0.0f, 2.6f));
  const float height = width * rng.uniform(1.0f, 1.5f);
  const float x = rng.uniform(0, std::max(1.0f, kSide - width));
  const float y = rng.uniform(0, std::max(1.0f, kSide - height));
  return {x, y, std::min(x + width, kSide), std::min(y + height, kSide)};
}

// What the detector takes for there.
boxes::Truths perceived(const boxes::Truths& truths, base::Rng& rng) {
  boxes::Truths seen;
  for (const boxes::Truth& truth : truths) {
    if (rng.bernoulli(0.12f)) continue;
    seen.push_back(truth);
    if (rng.bernoulli(0.08f)) seen.back().class_index = 1 - truth.class_index;
  }
  while (rng.bernoulli(0.35f)) {
    seen.push_back({random_face(rng), static_cast<int>(rng.uniform_int(0, 1)), false});
  }
  return seen;
}

targets::RasterShapes shapes() {
  return {0.4f, {{0.5f, 0.5f, 0.4f, 0.4f, 1}, {0.5f, 0.5f, 1, 1, 1}}};
}

std::vector<evaluate::PictureResult> detect(const std::vector<Frame>& frames,
                                            const std::vector<postprocess::ClassClustering>& clustering,
                                            const postprocess::Options& options) {
  std::vector<evaluate::PictureResult> pictures;
  for (const Frame& frame : frames) {
    pictures.push_back(
        {std::to_string(pictures.size()),
         postprocess::detections_from_grids({geometry(), 2, frame.coverage, frame.box}, clustering, options),
         frame.truths});
  }
  return pictures;
}

}  // namespace

const std::vector<std::string>& class_names() {
  static const std::vector<std::string> names = {"mask", "no-mask"};
  return names;
}

boxes::GridGeometry geometry() {
  return {640, 640, 40, 40};
}

std::vector<Frame> make_scene(int frames) {
  base::Rng rng(2024, base::Purpose::kTest);
  std::vector<Frame> scene;
  for (int n = 0; n < frames; ++n) {
    Frame frame;
    const std::int64_t faces = rng.uniform_int(0, 5);
    for (std::int64_t i = 0; i < faces; ++i) {
      frame.truths.push_back({random_face(rng), static_cast<int>(rng.uniform_int(0, 1)), false});
    }
    const targets::TargetGrids grids =
        targets::rasterise(perceived(frame.truths, rng), shapes(), geometry(), {});
    frame.coverage = grids.coverage;
    frame.box = grids.box;
    for (float& cover : frame.coverage) cover = std::clamp(cover * rng.uniform(0.1f, 1.0f), 0.0f, 1.0f);
    for (float& side : frame.box) side *= 1 + 0.12f * rng.normal();
    scene.push_back(std::move(frame));
  }
  return scene;
}

spec::PostProcessingConfig face_mask_postprocessing(spec::ClusteringConfig::ClusteringAlgorithm algorithm) {
  spec::PostProcessingConfig config;
  for (const std::string& name : class_names()) {
    auto& clustering = *(*config.mutable_target_class_config())[name].mutable_clustering_config();
    clustering.set_clustering_algorithm(algorithm);
    clustering.set_coverage_threshold(0.005f);
    clustering.set_dbscan_eps(name == "mask" ? 0.2f : 0.15f);
    clustering.set_dbscan_min_samples(0.05f);
    clustering.set_minimum_bounding_box_height(20);
    clustering.set_nms_iou_threshold(0.3f);
  }
  return config;
}

spec::EvaluationConfig face_mask_evaluation() {
  spec::EvaluationConfig config;
  for (const std::string& name : class_names()) {
    (*config.mutable_minimum_detection_ground_truth_overlap())[name] = 0.5f;
    auto& limits = (*config.mutable_evaluation_box_config())[name];
    limits.set_minimum_width(10);
    limits.set_maximum_width(9999);
    limits.set_minimum_height(20);
    limits.set_maximum_height(9999);
  }
  return config;
}

std::vector<evaluate::PictureResult> detect(const std::vector<Frame>& frames,
                                            const spec::PostProcessingConfig& config, bool reference_exact) {
  postprocess::Options options;
  options.reference_exact = reference_exact;
  return detect(frames, postprocess::clustering_from_spec(config, class_names(), options), options);
}

std::vector<evaluate::PictureResult> detect_with_votes(const std::vector<Frame>& frames,
                                                       const spec::PostProcessingConfig& config,
                                                       float vote_iou) {
  std::vector<postprocess::ClassClustering> clustering =
      postprocess::clustering_from_spec(config, class_names(), postprocess::Options{});
  for (auto& of_class : clustering) of_class.vote_iou = vote_iou;
  return detect(frames, clustering, {});
}

}  // namespace maskfit::numerics
