#pragma once

// The model file that a run leaves behind.

#include <cstdint>
#include <map>
#include <string>

#include "evaluate/evaluate.h"
#include "network/model_file.h"
#include "spec/experiment.pb.h"

namespace maskfit::train {

// What a model's provenance says about its making.
struct ModelOrigin {
  std::string data_digest;
  std::int64_t epoch = 0;  // finished epochs
  std::int64_t step = 0;
  const evaluate::Evaluation* evaluation = nullptr;  // of these weights, when they were validated
  // Entries about what came before, e.g. how the network was pruned.
  std::map<std::string, std::string> lineage = {};
};

// Classes, canvas, box coding and postprocessing are the spec's. provenance: "experiment_spec" (the whole
// effective spec), "spec_digest", "data_digest", "seed", "version", "epoch", "step", "recipe"; after a
// validation also "map", "map50", "map75", "map50_95", "ap/<class>" and the thresholds that
// deploy::PictureDetector uses.
network::Model finished_model(network::Network network, const spec::Experiment& experiment,
                              const ModelOrigin& origin);

// Whether a model says which spec it was trained with.
bool has_experiment(const network::Model& model);

// The spec that a model was trained with, from its provenance. Throws base::Error (kRefused) for a model
// without it.
spec::Experiment experiment_of(const network::Model& model, const std::string& name_for_errors);

}  // namespace maskfit::train
