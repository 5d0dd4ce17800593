#pragma once

// A made-up validation set: random faces, and the grids that a middling detector would put out for them.
// Everything comes from one seed, so figures measured on it can be printed in a document.

#include <string>
#include <vector>

#include "boxes/box.h"
#include "evaluate/evaluate.h"
#include "postprocess/postprocess.h"
#include "spec/experiment.pb.h"

namespace maskfit::numerics {

struct Frame {
  boxes::Truths truths;
  std::vector<float> coverage;  // [2][40][40]
  std::vector<float> box;       // [2][4][40][40]
};

// Classes "mask" and "no-mask", input 640 x 640, cells of 16 px.
const std::vector<std::string>& class_names();
boxes::GridGeometry geometry();

// Targets of random faces, worsened: some objects are not seen or seen as the other class, coverages and
// boxes are noisy, and there are false alarms.
std::vector<Frame> make_scene(int frames);

// The face-mask project's clustering and evaluation figures (spec 8.4).
spec::PostProcessingConfig face_mask_postprocessing(spec::ClusteringConfig::ClusteringAlgorithm algorithm);
spec::EvaluationConfig face_mask_evaluation();

std::vector<evaluate::PictureResult> detect(const std::vector<Frame>& frames,
                                            const spec::PostProcessingConfig& config, bool reference_exact);
// The same with the mean of overlapping boxes in place of the best one.
std::vector<evaluate::PictureResult> detect_with_votes(const std::vector<Frame>& frames,
                                                       const spec::PostProcessingConfig& config,
                                                       float vote_iou);

}  // namespace maskfit::numerics
