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

// The spec that a model was trained with, from its provenance, with what the model file itself says laid over
// it: the order of the classes, the postprocessing and take_network_facts(). So `evaluate` judges the model
// that `infer` runs. Throws base::Error (kRefused) for a model without a spec, or with one of other classes.
spec::Experiment experiment_of(const network::Model& model, const std::string& name_for_errors);

// What belongs to the weights and no spec can change: the size of the input and the coding of the boxes.
void take_network_facts(const network::Model& model, spec::Experiment* experiment);

}  // namespace maskfit::train
