#include "train/run_request.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "network/model_file.h"
#include "spec/check.h"
#include "spec/defaults.h"
#include "spec/load.h"
#include "spec/recipes.h"
#include "spec/set_field.h"
#include "train/finished_model.h"

namespace maskfit::train {
namespace {

using base::Error;
using base::ExitCode;
using spec::Experiment;
using spec::TrainingConfig;

// A spec with the places where its fields were set, for messages.
struct Draft {
  Experiment experiment;
  spec::Source source;
  base::Findings findings;
};

TrainingConfig::Recipe recipe_from_name(const std::string& name) {
  if (name.empty() || name == "scratch") return TrainingConfig::SCRATCH;
  if (name == "tlt") return TrainingConfig::TLT;
  throw Error(ExitCode::kUsage, fmt::format("unknown recipe '{}'", name), "--recipe", "use scratch or tlt");
}

// The pictures as the network of a model takes them.
void set_input(const network::Shape& input, Draft& draft) {
  auto* preprocessing = draft.experiment.mutable_augmentation_config()->mutable_preprocessing();
  preprocessing->set_output_image_width(static_cast<std::uint32_t>(input.width));
  preprocessing->set_output_image_height(static_cast<std::uint32_t>(input.height));
  preprocessing->set_output_image_channel(static_cast<std::uint32_t>(input.channels));
}

// The spec that the model was trained with, or the recipe where it does not say.
Draft draft_of_model(const RunRequest& request, const std::vector<std::string>& class_names) {
  const network::Model model = network::read_model(*request.from);
  Draft draft;
  if (request.recipe.empty() && has_experiment(model)) {
    draft.experiment = experiment_of(model, request.from->string());
    // Another teacher, or none, is this run's to say.
    draft.experiment.mutable_cost_function_config()->clear_distillation();
  } else {
    draft.experiment = spec::recipe_experiment(recipe_from_name(request.recipe), class_names);
  }
  set_input(model.network.input, draft);
  return draft;
}

Draft first_draft(const RunRequest& request, const std::vector<std::string>& class_names) {
  if (!request.spec_file) {
    if (request.from) return draft_of_model(request, class_names);
    return {spec::recipe_experiment(recipe_from_name(request.recipe), class_names), spec::Source(), {}};
  }
  spec::Loaded<Experiment> loaded = spec::load_experiment(*request.spec_file, class_names);
  if (!request.recipe.empty() && loaded.spec.training_config().recipe() != recipe_from_name(request.recipe)) {
    throw Error(ExitCode::kUsage, "--recipe differs from the training_config.recipe of the spec file",
                "--recipe", "set the recipe in the file, or leave --recipe away");
  }
  return {std::move(loaded.spec), std::move(loaded.source), std::move(loaded.findings)};
}

// "resnet18" -> arch "resnet", num_layers 18.
void set_backbone(const std::string& name, Draft& draft) {
  const std::size_t digits = name.find_first_of("0123456789");
  long long layers = 0;
  if (digits == std::string::npos || !base::parse_int(name.substr(digits), &layers)) {
    throw Error(ExitCode::kUsage, fmt::format("'{}' is not a backbone", name), "--backbone", "e.g. resnet18");
  }
  draft.experiment.mutable_model_config()->set_arch(name.substr(0, digits));
  draft.experiment.mutable_model_config()->set_num_layers(static_cast<int>(layers));
}

void set_size(const std::string& size, Draft& draft) {
  const std::vector<std::string> sides = base::split(size, 'x');
  long long width = 0, height = 0;
  if (sides.size() != 2 || !base::parse_int(sides[0], &width) || !base::parse_int(sides[1], &height) ||
      width <= 0 || height <= 0 || width > UINT32_MAX || height > UINT32_MAX) {
    throw Error(ExitCode::kUsage, fmt::format("'{}' is not a size", size), "--size",
                "WIDTHxHEIGHT in pixels, multiples of 16, e.g. 960x544");
  }
  auto* preprocessing = draft.experiment.mutable_augmentation_config()->mutable_preprocessing();
  preprocessing->set_output_image_width(static_cast<std::uint32_t>(width));
  preprocessing->set_output_image_height(static_cast<std::uint32_t>(height));
}

void set_precision(const std::string& name, Draft& draft) {
  TrainingConfig::Precision precision;
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!TrainingConfig::Precision_Parse(upper, &precision)) {
    throw Error(ExitCode::kUsage, fmt::format("unknown precision '{}'", name), "--precision",
                "use fp32, bf16 or fp16");
  }
  draft.experiment.mutable_training_config()->set_precision(precision);
}

std::uint32_t whole_number(std::int64_t value, const char* option, std::int64_t at_least,
                           std::int64_t at_most = UINT32_MAX) {
  if (value < at_least || value > at_most) {
    throw Error(ExitCode::kUsage, fmt::format("{} is out of range", value), option,
                fmt::format("a whole number from {} to {}", at_least, at_most));
  }
  return static_cast<std::uint32_t>(value);
}

// The recipe "scratch" with another number of pictures a step: the learning rate follows its square root, as
// Adam's steps do not grow with the batch, and the average spans as many epochs as before.
void set_batch(std::uint32_t batch, int ranks, TrainingConfig* training) {
  const double ratio = static_cast<double>(batch) * ranks / std::max(1U, training->batch_size_per_gpu());
  training->set_batch_size_per_gpu(batch);
  if (training->recipe() != TrainingConfig::SCRATCH) return;
  if (training->learning_rate().has_warmup_cosine_schedule()) {
    auto* schedule = training->mutable_learning_rate()->mutable_warmup_cosine_schedule();
    schedule->set_max_learning_rate(static_cast<float>(schedule->max_learning_rate() * std::sqrt(ratio)));
    schedule->set_min_learning_rate(static_cast<float>(schedule->min_learning_rate() * std::sqrt(ratio)));
  }
  const double forgotten = std::min(0.5, (1 - training->ema_decay()) * ratio);
  if (training->ema_decay() > 0) training->set_ema_decay(static_cast<float>(1 - forgotten));
}

void apply_options(const RunRequest& request, Draft& draft) {
  TrainingConfig* training = draft.experiment.mutable_training_config();
  if (request.backbone && request.from) {
    throw Error(ExitCode::kUsage, "--backbone and --from both say what the network is", "--backbone",
                "leave --backbone away; --set model_config.pretrained_model_file=FILE takes only weights");
  }
  if (request.backbone) set_backbone(*request.backbone, draft);
  if (request.from) {
    draft.experiment.mutable_model_config()->set_pretrained_model_file(absolute(*request.from).string());
    draft.experiment.mutable_model_config()->set_load_graph(true);
  }
  if (request.teacher) {
    draft.experiment.mutable_cost_function_config()->mutable_distillation()->set_teacher(
        absolute(*request.teacher).string());
  }
  if (request.size) set_size(*request.size, draft);
  if (request.precision) set_precision(*request.precision, draft);
  if (request.epochs) training->set_num_epochs(whole_number(*request.epochs, "--epochs", 1));
  if (request.batch || request.ranks > 1) {
    const std::uint32_t batch = request.batch ? whole_number(*request.batch, "--batch", 1, INT32_MAX)
                                              : training->batch_size_per_gpu();
    // A file's learning rate is its own.
    request.spec_file ? training->set_batch_size_per_gpu(batch) : set_batch(batch, request.ranks, training);
  }
  if (request.seed) draft.experiment.set_random_seed(whole_number(*request.seed, "--seed", 0));
  for (const std::string& assignment : request.assignments) {
    for (base::Finding& finding : spec::set_field(&draft.experiment, assignment, &draft.source)) {
      draft.findings.push_back(std::move(finding));
    }
  }
}

Experiment finish(Draft draft, bool data_given, base::Findings* warnings) {
  for (base::Finding& finding :
       spec::check(draft.experiment, draft.source,
                   {.purpose = spec::Purpose::kRun, .data_from_elsewhere = data_given})) {
    draft.findings.push_back(std::move(finding));
  }
  spec::throw_if_refused(draft.findings);  // what is left are warnings
  if (warnings != nullptr) warnings->insert(warnings->end(), draft.findings.begin(), draft.findings.end());
  spec::apply_defaults(&draft.experiment);
  return std::move(draft.experiment);
}

// Options that do not change what has been trained so far.
void clear_what_may_change(Experiment& experiment) {
  experiment.mutable_training_config()->clear_num_epochs();
  experiment.mutable_training_config()->clear_threads();
  experiment.mutable_training_config()->clear_batch_size_per_gpu();
  experiment.mutable_training_config()->clear_checkpoint_interval();
  experiment.mutable_evaluation_config()->clear_validation_period_during_training();
  experiment.mutable_evaluation_config()->clear_first_validation_epoch();
}

}  // namespace

Experiment effective_experiment(const RunRequest& request, const std::vector<std::string>& class_names,
                                bool data_given, base::Findings* warnings) {
  Draft draft = first_draft(request, class_names);
  apply_options(request, draft);
  return finish(std::move(draft), data_given, warnings);
}

Experiment resumed_experiment(const Experiment& stored, const RunRequest& request,
                              const std::vector<std::string>& class_names, bool data_given,
                              base::Findings* warnings) {
  if (!data_given && !request.spec_file && !stored.has_dataset_config()) {
    throw Error(ExitCode::kUsage, "the run was trained on a dataset that its spec does not name", "--resume",
                "name it again: maskfit train DATASET --out RUN --resume");
  }
  Draft draft;
  draft.experiment = stored;
  const bool anew = request.spec_file || !request.recipe.empty();
  if (anew) draft = first_draft(request, class_names);
  // The run's learning rate stays, whatever number of pictures a step has from now on.
  RunRequest options = request;
  if (!anew) options.batch.reset(), options.ranks = 1;
  apply_options(options, draft);
  if (request.batch) {
    draft.experiment.mutable_training_config()->set_batch_size_per_gpu(
        whole_number(*request.batch, "--batch", 1, INT32_MAX));
  }
  Experiment resumed = finish(std::move(draft), data_given, warnings);
  Experiment before = stored, after = resumed;
  clear_what_may_change(before);
  clear_what_may_change(after);
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  if (!differencer.Compare(before, after)) {
    throw Error(ExitCode::kUsage,
                "these options differ from those of the run that is to be resumed:\n" + differences,
                "--resume", "leave them away, or begin a new run with another --out");
  }
  return resumed;
}

targets::BoxCoding box_coding(const Experiment& experiment) {
  const spec::ModelConfig::BboxObjective& bbox = experiment.model_config().objective_set().bbox();
  return {.scale = bbox.scale(), .offset = bbox.offset()};
}

std::vector<std::string> class_names_of(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const auto& target : experiment.cost_function_config().target_classes())
    names.push_back(target.name());
  return names;
}

}  // namespace maskfit::train
