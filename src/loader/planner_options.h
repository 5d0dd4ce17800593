#pragma once

#include <vector>

#include "loader/batch_planner.h"
#include "spec/experiment.pb.h"

namespace maskfit::loader {

// What a training with this spec plans its batches by. `sources` are ranges of its pictures.
PlannerOptions planner_options_from_spec(const spec::Experiment& experiment, std::vector<Source> sources,
                                         bool reference_exact);

}  // namespace maskfit::loader
