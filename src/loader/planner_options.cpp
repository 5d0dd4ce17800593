#include "loader/planner_options.h"

namespace maskfit::loader {

PlannerOptions planner_options_from_spec(const spec::Experiment& experiment, std::vector<Source> sources,
                                         bool reference_exact) {
  const bool uniform = experiment.dataset_config().sampling_mode() == spec::DatasetConfig::UNIFORM;
  return {.batch = static_cast<int>(experiment.training_config().batch_size_per_gpu()),
          .seed = experiment.random_seed(),
          .sources = std::move(sources),
          .sampling = uniform ? SourceSampling::kUniform : SourceSampling::kProportional,
          .augmentation = augment::options_from_spec(experiment.augmentation_config(), reference_exact),
          .epochs = experiment.training_config().num_epochs(),
          .mosaic_off_last_epochs = experiment.augmentation_config().mosaic_off_last_epochs()};
}

}  // namespace maskfit::loader
