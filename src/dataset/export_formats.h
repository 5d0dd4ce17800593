#pragma once

// One label format as export_labels() sees it: where files go and what they say.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/export_labels.h"
#include "dataset/export_staging.h"

namespace maskfit::dataset {

// Counts what is lost, by kind; safe to use from several threads.
class LossCounter {
 public:
  void add(const std::string& what, const Sample& sample, std::int64_t count = 1);
  // Sorted by kind; each example is the smallest id of its kind.
  std::vector<ExportLoss> losses() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ExportLoss> losses_;
};

class LabelFormatWriter {
 public:
  virtual ~LabelFormatWriter() = default;
  // Where the sample's picture lies, relative to the output folder; `name` has no ending.
  virtual std::filesystem::path image_file(const Sample& sample, const std::string& name) const = 0;
  // Writes the sample's own label file, if the format has one. Called from several threads.
  virtual void write_label(const Sample& sample, const std::string& name, const StagedFolder& folder,
                           LossCounter* losses) const = 0;
  // Writes what is about all samples; names are in the order of dataset.samples. Returns the files written.
  virtual std::int64_t finish(const std::vector<std::string>& names, const StagedFolder& folder,
                              LossCounter* losses) const = 0;
  virtual bool has_label_per_sample() const = 0;
};

// Throws base::Error (kRefused) when two classes of the dataset would be one in the format.
std::unique_ptr<LabelFormatWriter> make_format_writer(const Dataset& dataset, const ExportOptions& options);

}  // namespace maskfit::dataset
