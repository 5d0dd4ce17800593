#pragma once

// Complete specs to start from, so that `maskfit train DATASET` needs no file.

#include <string>
#include <string_view>
#include <vector>

#include "spec/experiment.pb.h"

namespace maskfit::spec {

// The recipe with an entry for every class wherever a section wants one. dataset_config is left to the
// caller. With no class names the class entries are left out.
//   TLT      the reference's losses and schedule, with the face-mask project's values; made for pretrained
//   weights SCRATCH  from random weights
// REQUIRES recipe is one of these two.
Experiment recipe_experiment(TrainingConfig::Recipe recipe, const std::vector<std::string>& class_names);

// The text that the recipe is made from; the class name CLASS stands for each class.
std::string_view recipe_text(TrainingConfig::Recipe recipe);

}  // namespace maskfit::spec
