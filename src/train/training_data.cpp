#include "train/training_data.h"

#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "base/files.h"
#include "dataset/tfrecords.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {

using base::Error;
using base::ExitCode;

// Adds the data's training part as one source.
void add_source(TrainingData& all, const dataset::Dataset& data, float weight) {
  const auto first = static_cast<std::int64_t>(all.train.size());
  for (const loader::LabeledPicture& picture : loader::pictures_of(data, "train"))
    all.train.push_back(picture);
  all.sources.push_back({first, static_cast<std::int64_t>(all.train.size()) - first, weight});
}

void add_validation(TrainingData& all, const dataset::Dataset& data, const std::string& split) {
  for (const loader::LabeledPicture& picture : loader::pictures_of(data, split)) all.val.push_back(picture);
}

std::string combined_digest(const std::deque<dataset::Dataset>& datasets) {
  if (datasets.size() == 1) return dataset::digest(datasets[0]);
  std::string digests;
  for (const dataset::Dataset& data : datasets) digests += dataset::digest(data) + "\n";
  return base::sha256(digests);
}

void require_training_pictures(const TrainingData& data, const std::string& where) {
  if (!data.train.empty()) return;
  throw Error(ExitCode::kRefused, "the data has no training pictures", where,
              "check its split: pictures with split \"train\" are trained on");
}

}  // namespace

std::vector<std::string> TrainingData::label_names() const {
  std::set<std::string> names;
  for (const dataset::Dataset& data : datasets)
    names.insert(data.class_names.begin(), data.class_names.end());
  return {names.begin(), names.end()};
}

TrainingData open_named_data(const std::filesystem::path& path) {
  TrainingData data;
  data.datasets.push_back(dataset::open_data(path, &data.findings));
  add_source(data, data.datasets[0], 1);
  add_validation(data, data.datasets[0], "val");
  data.digest = combined_digest(data.datasets);
  require_training_pictures(data, path.string());
  return data;
}

TrainingData open_spec_data(const spec::DatasetConfig& config, const std::filesystem::path& base) {
  const auto source_of = [&](const spec::DataSource& source) {
    return dataset::TfrecordSource{dataset::resolve_data_path(source.tfrecords_path(), base).string(),
                                   dataset::resolve_data_path(source.image_directory_path(), base),
                                   config.image_extension()};
  };
  std::optional<int> fold;
  if (config.dataset_split_type_case() == spec::DatasetConfig::kValidationFold) {
    fold = static_cast<int>(config.validation_fold());
  }
  TrainingData data;
  for (const spec::DataSource& source : config.data_sources()) {
    data.datasets.push_back(dataset::read_tfrecords(source_of(source), fold, &data.findings));
    add_source(data, data.datasets.back(), source.source_weight());
    add_validation(data, data.datasets.back(), "val");
  }
  if (config.has_validation_data_source()) {
    data.datasets.push_back(
        dataset::read_tfrecords(source_of(config.validation_data_source()), std::nullopt, &data.findings));
    add_validation(data, data.datasets.back(), "");
  }
  data.digest = combined_digest(data.datasets);
  require_training_pictures(data, "dataset_config.data_sources");
  return data;
}

std::map<std::string, std::int64_t> unmapped_labels(const std::vector<loader::LabeledPicture>& pictures,
                                                    const loader::ClassMapping& classes) {
  std::map<std::string, std::int64_t> count;
  for (const loader::LabeledPicture& picture : pictures) {
    for (const dataset::LabeledBox& label : picture.sample->boxes) {
      if (!label.ignore && classes.index_of(label.class_name) < 0) ++count[label.class_name];
    }
  }
  return count;
}

loader::ClassMapping class_mapping(const spec::Experiment& experiment,
                                   const std::vector<loader::LabeledPicture>& pictures) {
  loader::ClassMapping mapping{class_names_of(experiment), {}};
  const auto& entries = experiment.dataset_config().target_class_mapping();
  mapping.class_of_label.insert(entries.begin(), entries.end());
  std::set<std::string> labels;
  std::int64_t ignored = 0;
  for (const loader::LabeledPicture& picture : pictures) {
    for (const dataset::LabeledBox& label : picture.sample->boxes) {
      ignored += label.ignore ? 1 : 0;
      if (label.ignore) continue;
      if (mapping.index_of(label.class_name) >= 0) return mapping;
      labels.insert(label.class_name);
    }
  }
  if (labels.empty()) {
    throw Error(
        ExitCode::kRefused,
        ignored == 0
            ? fmt::format("not one of the {} pictures has a box", pictures.size())
            : fmt::format("all {} boxes of the {} pictures are to be ignored", ignored, pictures.size()),
        "", "look at the labels with `maskfit data info`; the import says what it refused or ignored");
  }
  throw Error(
      ExitCode::kRefused, "not one label of the pictures is of a class of the model",
      "dataset_config.target_class_mapping",
      fmt::format(
          "the labels are {}, the classes {}; map the labels to the classes with "
          "target_class_mapping {{ key: \"LABEL\" value: \"CLASS\" }} in the dataset_config of a spec "
          "file (--spec), or import the data with --classes LABEL=CLASS",
          fmt::join(labels, ", "), fmt::join(mapping.class_names, ", ")));
}

loader::PictureSetOptions picture_options(const spec::Experiment& experiment) {
  const auto& input = experiment.augmentation_config().preprocessing();
  loader::PictureSetOptions options;
  options.canvas = {static_cast<int>(input.output_image_width()),
                    static_cast<int>(input.output_image_height())};
  options.channels = static_cast<int>(input.output_image_channel());
  const bool letterbox = input.canvas() == spec::AugmentationConfig::LETTERBOX;
  options.mode = !input.enable_auto_resize() ? image::CanvasMode::kPad
                 : letterbox                 ? image::CanvasMode::kLetterbox
                                             : image::CanvasMode::kStretch;
  // The reference resizes as TensorFlow 1 does, without antialiasing; its specs get its pixels.
  const bool reference = experiment.training_config().recipe() != spec::TrainingConfig::SCRATCH;
  options.filter = reference && !letterbox ? image::Filter::kBilinearTf1 : image::Filter::kAntialias;
  options.memory_limit_bytes = loader::default_memory_limit();
  options.threads = static_cast<int>(experiment.training_config().threads());
  return options;
}

}  // namespace maskfit::train
