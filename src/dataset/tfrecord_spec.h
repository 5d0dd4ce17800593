#pragma once

// The reference's dataset_convert: a spec file with a KITTI folder or COCO files becomes TFRecords.

#include <filesystem>
#include <optional>
#include <string>

#include "dataset/tfrecords.h"
#include "spec/dataset_export.pb.h"

namespace maskfit::dataset {

struct TfrecordSpecOptions {
  std::string prefix;                  // -o
  std::optional<int> validation_fold;  // -f; with partition_mode random 0 where it is not given
  std::filesystem::path base;          // relative root paths start here; see resolve_data_path()
  bool reference_order = false;        // partition_mode random as the reference parts it, by name
  bool skip_bad_labels = false;        // leave out missing label files and lines that cannot be read
  std::uint64_t seed = 42;             // of partition_mode random without reference_order
  base::Overwrite overwrite = base::Overwrite::kRefuse;
};

struct TfrecordSpecResult {
  TfrecordExport written;
  Dataset dataset;  // as read; sizes and boxes in the stored picture, as the reference takes them
};

// Boxes are stored as written; those that leave the picture are counted in a finding. Throws base::Error
// (kRefused) naming file and line for labels that are missing or cannot be read (unless skipped), for
// pictures that cannot, and for a spec that asks for what the reference does not do either.
TfrecordSpecResult export_tfrecords(const spec::DatasetExportConfig& config,
                                    const TfrecordSpecOptions& options);

}  // namespace maskfit::dataset
