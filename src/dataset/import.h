#pragma once

// Folders of pictures and label files become a dataset, and every file in them is accounted for.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "dataset/class_map.h"
#include "dataset/dataset.h"
#include "formats/pascal_voc.h"

namespace maskfit::dataset {

enum class LabelFormat { kAuto, kVoc, kKitti };

struct ImportOptions {
  LabelFormat from = LabelFormat::kAuto;
  ClassMap classes;
  SplitOptions split;      // for samples that no folder name puts into a split
  std::string into_split;  // "train", "val" or "test": all of it there, whatever the folders are called
  bool decode_pictures =
      true;  // decode each picture, so that a damaged one is refused now and not in training
  bool unlabelled_as_background =
      false;  // a picture without a label file shows no object; else it is refused
  bool difficult_as_object =
      false;  // VOC's "difficult" objects are ignored otherwise, as VOC's evaluation does
  formats::VocPixels voc_pixels = formats::VocPixels::kAuto;
};

// What became of one file. Every file below the imported folders has exactly one record.
enum class Outcome { kUsed, kRepaired, kRefused };
struct FileRecord {
  std::string file;  // below the folder as the user wrote it
  Outcome outcome = Outcome::kUsed;
};

struct ImportResult {
  Dataset dataset;  // root is empty, pictures are absolute: see reference_pictures(), copy_pictures()
  base::Findings
      findings;  // why files were refused or repaired, and what to look at; sorted by file and line
  std::vector<FileRecord> files;           // sorted
  LabelFormat format = LabelFormat::kVoc;  // what was read
  std::string decision;                    // one sentence: which format, and why
  // class in the labels -> class in the dataset -> boxes; the target of ignored ones is "ignore"
  std::map<std::string, std::map<std::string, std::int64_t>> classes;

  std::int64_t count(Outcome outcome) const;
};

// Throws base::Error (kRefused) when no sample is left, or for classes that options.classes does not map; the
// hint is the option to paste then.
ImportResult import_folders(const std::vector<std::filesystem::path>& folders, const ImportOptions& options);

// Copies the pictures to dataset.root/images/<id><ending> and refers to them there. `progress` is called with
// the number done, and may be empty.
void copy_pictures(Dataset& dataset, const std::function<void(std::int64_t)>& progress = {});

}  // namespace maskfit::dataset
