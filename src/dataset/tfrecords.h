#pragma once

// Datasets to the reference's TFRecords and back. The bytes are described in docs/tfrecord-format.md; the
// records hold labels only, the pictures stay where they are.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/finding.h"
#include "dataset/dataset.h"
#include "dataset/folds.h"
#include "dataset/sample_modifier.h"

namespace maskfit::dataset {

struct TfrecordExportOptions {
  enum class Folds {
    kSplits,           // the dataset's own: "val" is fold 0, "train" fold 1; each shuffled once with `seed`
    kReferenceRandom,  // the reference's partition_mode "random", its order included: folds.h
    kSequences,        // the reference's partition_mode "sequence"
    kGiven,            // given_folds, in their order
  };
  std::string prefix;  // folder and beginning of the file names
  Folds folds = Folds::kSplits;
  int num_shards = 10;                    // of each fold; 0: one file without the shard part in its name
  std::uint64_t seed = 42;                // kSplits
  float val_percent = 20;                 // kReferenceRandom
  std::filesystem::path sequences_file;   // kSequences: JSON, sequence name -> list of frame names
  int num_folds = 2;                      // kSequences; kGiven: 0 leaves the fold out of the names
  std::vector<Fold> given_folds;          // kGiven: frame ids
  std::vector<int> fold_shards;           // instead of num_shards, one a fold; empty: num_shards for all
  std::filesystem::path image_directory;  // frame ids start there; empty: above all pictures
  std::optional<SampleModifier> modifier;
  std::optional<int> validation_fold = 0;  // the modifier leaves it as it is; empty: it changes every fold
  base::Overwrite overwrite = base::Overwrite::kRefuse;
};

struct TfrecordExport {
  struct WrittenFold {
    int index = 0;
    std::vector<std::filesystem::path> files;
    std::int64_t frames = 0;    // records, copies included
    std::int64_t filtered = 0;  // pictures that the modifier left out, by class or by its cap
    std::int64_t copies = 0;    // further records of pictures that it duplicated
    std::map<std::string, std::int64_t> objects;  // by class as written
  };
  std::vector<WrittenFold> folds;         // without empty ones; the indices stay
  std::int64_t left_out = 0;              // samples in no fold (the "test" split)
  std::int64_t dropped_objects = 0;       // less than a pixel: listed in PREFIX_warning.json
  std::filesystem::path image_directory;  // image_directory_path for a spec file
  std::string image_extension;            // image_extension for a spec file, without the dot
  base::Findings findings;  // classes merged by lower case, pictures with another ending, fewer shards
};

// Writes all files under temporary names first, so that a failure leaves nothing behind. Files of an earlier
// conversion with this prefix are an error, or removed with Overwrite::kAllow: left beside the new ones they
// would be trained on.
TfrecordExport export_tfrecords(const Dataset& dataset, const TfrecordExportOptions& options);

struct TfrecordSource {
  std::string glob;                       // tfrecords_path
  std::filesystem::path image_directory;  // frame ids are relative to it
  std::string image_extension;            // "jpg" or ".jpg"; tried first, then the other common ones
};

enum class TfrecordBoxes {
  kMended,     // cut to the picture, see mend_boxes()
  kAsWritten,  // the reference's loader
};

// The files of one source, sorted. Throws base::Error (kRefused) when none matches.
std::vector<std::filesystem::path> tfrecord_files(const TfrecordSource& source);

// TFRecords at a path that a user calls data: a file of them, a folder that holds some and no other labels
// (the folder is taken for that of the pictures, too), or a glob whose first file is one. Told by the
// checksum in their first bytes, whatever they are called. Nothing for anything else.
std::optional<TfrecordSource> find_tfrecords(const std::string& path);

// The frames of one source; where validation_fold is given, the files of that fold (by name) are "val", all
// others "train". A frame whose picture is missing or unreadable, or whose record is wrong, is left out with
// a refused finding (its `line` is the number of the record in the file). Damaged files throw. `findings` may
// be null.
Dataset read_tfrecords(const TfrecordSource& source, std::optional<int> validation_fold,
                       base::Findings* findings = nullptr, TfrecordBoxes boxes = TfrecordBoxes::kMended);

// The reference resolves relative paths of a spec under $DATA_BASE_PATH, or ~/datasets. Here: absolute as it
// is, else under $DATA_BASE_PATH where that is set, else under `base` (the folder of the spec file or the
// current one).
std::filesystem::path resolve_data_path(const std::filesystem::path& path, const std::filesystem::path& base);

}  // namespace maskfit::dataset
