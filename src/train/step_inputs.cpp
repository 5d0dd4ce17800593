#include "train/step_inputs.h"

#include "loader/realise.h"

namespace maskfit::train {

StepInputs::StepInputs(const loader::PictureSet& pictures, const loader::BatchPlanner& planner,
                       const TargetOptions& targets, const StepInputOptions& options)
    : inputs_(options.first_step, options.last_step, options.threads, options.ahead,
              [&pictures, &planner, &targets, options](std::int64_t step) {
                StepInput input;
                input.plan = planner.plan(step / planner.steps_per_epoch(), step % planner.steps_per_epoch());
                if (options.with_pixels) input.pixels = loader::realise(input.plan, pictures);
                input.targets =
                    make_targets(input.plan.truths_in_network, input.plan.source_weights, targets);
                return input;
              }) {}

}  // namespace maskfit::train
