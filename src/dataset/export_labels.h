#pragma once

// A dataset as a folder in another tool's label format, pictures included. docs/converting.md shows the
// layouts and says what each format can carry.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/finding.h"
#include "base/interrupt.h"
#include "dataset/dataset.h"

namespace maskfit::dataset {

enum class ExportFormat { kKitti, kVoc, kYolo, kCoco };
// "kitti", "voc", "yolo", "coco"; throws base::Error (kUsage) naming the choices.
ExportFormat export_format_from_name(const std::string& name);

struct ExportOptions {
  enum class Pictures { kLink, kCopy, kNone };

  std::filesystem::path folder;
  ExportFormat format = ExportFormat::kVoc;
  Pictures pictures = Pictures::kLink;  // kNone: labels only
  base::Overwrite overwrite = base::Overwrite::kRefuse;
  base::StopToken stop;
  // Called from several threads with the number of samples done; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// Something of the dataset that the format has no place for.
struct ExportLoss {
  std::string what;        // "regions to ignore: the format has none"
  std::int64_t count = 0;  // how many boxes, pictures, ...
  std::string example;     // the first sample's id
};

struct ExportResult {
  std::map<std::string, Counts> written;  // by split
  std::int64_t label_files = 0;
  std::vector<ExportLoss> losses;  // in a fixed order, none with a count of 0
  std::int64_t turned = 0;         // pictures that EXIF turns: the labels fit the upright picture
};

// Either the whole folder is there at the end or nothing of it (export_staging.h). Throws base::Error:
// kRefused for pictures that are missing and for classes that would become one, kFailed for a folder that
// is not empty, kUsage for one inside the dataset, kInterrupted when stopped.
ExportResult export_labels(const Dataset& dataset, const ExportOptions& options);

// The classes in the record that export_labels() leaves beside its labels (conversion.json), in the order of
// the dataset that was converted; empty for another text.
std::vector<std::string> converted_classes(const std::string& text);

}  // namespace maskfit::dataset
