#pragma once

// The pictures of a run, wherever they come from: a dataset named on the command line, or the data_sources of
// a spec.

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "loader/picture_set.h"
#include "loader/sample_order.h"
#include "spec/experiment.pb.h"

namespace maskfit::train {

struct TrainingData {
  std::deque<dataset::Dataset> datasets;  // own the samples that the lists below point to
  std::vector<loader::LabeledPicture> train, val;
  std::vector<loader::Source> sources;  // ranges of `train`, one a data source
  std::string digest;                   // SHA-256 over the datasets' digests
  base::Findings findings;              // what opening them found

  std::vector<std::string> label_names()
      const;  // classes that occur in any dataset, sorted, without "DontCare"
};

// DATASET of the command line, see dataset::open_data. Throws base::Error (kRefused) when nothing is left to
// train on.
TrainingData open_named_data(const std::filesystem::path& path);
// dataset_config.data_sources: TFRecords with their pictures, split by validation_fold or
// validation_data_source.
// Relative paths start at $DATA_BASE_PATH, else at `base`, the folder of the spec file.
TrainingData open_spec_data(const spec::DatasetConfig& config, const std::filesystem::path& base);

// Labels of these pictures that no class of the model takes, by their name, without those to be ignored.
std::map<std::string, std::int64_t> unmapped_labels(const std::vector<loader::LabeledPicture>& pictures,
                                                    const loader::ClassMapping& classes);

// How labels become the classes of the model: target_class_mapping, or each label as its own class when it is
// empty. Throws base::Error (kRefused) that lists labels and classes when not one label of the pictures is of
// a class of the model.
loader::ClassMapping class_mapping(const spec::Experiment& experiment,
                                   const std::vector<loader::LabeledPicture>& pictures);

// How pictures meet the network's input.
loader::PictureSetOptions picture_options(const spec::Experiment& experiment);

}  // namespace maskfit::train
