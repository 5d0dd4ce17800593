#pragma once

// The network that a spec describes, with its initial or pretrained weights.

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
};

// Random weights from init_seed (random_seed when 0), the coverage prior, then pretrained_model_file if there
// is one: arrays of the same name and shape are copied, as in the reference. The heads are among them, unlike
// there, when the file's classes are ours. `report` may be null. Throws base::Error (kRefused) when nothing
// in the file fits.
network::Network build_network(const spec::Experiment& experiment, PretrainedReport* report = nullptr);

// The part of model::DetectorOptions that a spec decides.
model::DetectorOptions detector_options(const spec::Experiment& experiment, const std::string& device);

// Copies every array of `from` that `to` has under the same name with the same shape.
PretrainedReport copy_weights(const network::Network& from, network::Network& to);

}  // namespace maskfit::train
