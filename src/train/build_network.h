#pragma once

// The network that a spec describes, with its initial or pretrained weights.

#include <map>
#include <string>
#include <vector>

#include "model/detector.h"
#include "network/network.h"
#include "spec/experiment.pb.h"

namespace maskfit::train {

// What became of the arrays of a pretrained model.
struct PretrainedReport {
  std::vector<std::string> copied;   // names of our arrays that were filled
  std::vector<std::string> skipped;  // "output_cov/kernel: [2,512,1,1] here, [1,512,1,1] in the file"
  // With load_graph: one sentence about the network that was taken over, and what its file says about its
  // pruning ("prune/..." of its provenance).
  std::string loaded;
  std::map<std::string, std::string> lineage;
};

// Random weights from init_seed (random_seed when 0), the coverage prior, then pretrained_model_file if there
// is one: arrays of the same name and shape are copied, as in the reference. The heads are among them, unlike
// there, when the file's classes are ours. With load_graph the file's network and weights as they are, with
// the spec's input size: a pruned network stays pruned. `report` may be null. Throws base::Error (kRefused)
// when nothing in the file fits, or with load_graph when its classes, input channels or box coding are not
// the spec's.
network::Network build_network(const spec::Experiment& experiment, PretrainedReport* report = nullptr);

// The part of model::DetectorOptions that a spec decides.
model::DetectorOptions detector_options(const spec::Experiment& experiment, const std::string& device);

// Copies every array of `from` that `to` has under the same name with the same shape.
PretrainedReport copy_weights(const network::Network& from, network::Network& to);

}  // namespace maskfit::train
