#pragma once

// Folders of pictures and label files become a dataset, and every file in them is accounted for.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/interrupt.h"
#include "dataset/class_map.h"
#include "dataset/dataset.h"
#include "dataset/import_rules.h"
#include "formats/pascal_voc.h"

namespace maskfit::dataset {

enum class LabelFormat { kAuto, kVoc, kKitti, kYolo, kLabelme, kCoco, kMafa, kWider, kFddb, kCsv };

struct ImportOptions {
  // kAuto: whatever is there; of several labels of one picture the first in this order: Pascal VOC, LabelMe,
  // COCO, MAFA, WIDER FACE, FDDB, CSV, KITTI, YOLO. The others are compared with it.
  LabelFormat from = LabelFormat::kAuto;
  ClassMap classes;
  // For samples that no folder name puts into a split.
  SplitOptions split;
  // "train", "val" or "test": all of it there, whatever the folders are called.
  std::string into_split;
  // Decode each picture, so that a damaged one is refused now and not in training.
  bool decode_pictures = true;
  // A picture without a label file shows no object; else it is refused.
  bool unlabelled_as_background = false;
  // VOC's "difficult" objects are ignored otherwise, as VOC's evaluation does.
  bool difficult_as_object = false;
  // Cut boxes to the picture and leave out what is none; false: as written, to compare with the reference.
  bool mend_boxes = true;
  formats::VocPixels voc_pixels = formats::VocPixels::kAuto;
  FaceRules rules;
  // Where to keep what decoding showed, so that a second import or an audit decodes only what changed; empty:
  // nowhere. Written also when the import is stopped. See picture_cache.h.
  std::filesystem::path cache;
  // Called with pictures done and all, from several threads but never from two at once.
  std::function<void(std::int64_t, std::int64_t)> progress;
  base::StopToken stop;
};

// What became of one file. Every file below the imported folders has exactly one record.
enum class Outcome { kUsed, kRepaired, kRefused };
struct FileRecord {
  std::string file;  // below the folder as the user wrote it
  Outcome outcome = Outcome::kUsed;
  std::string as;  // what it is: "picture", "Pascal VOC label", "YOLO label, compared", "text"
};

// Class in the labels -> class in the dataset -> boxes; the target of ignored ones is "ignore".
using ClassUse = std::map<std::string, std::map<std::string, std::int64_t>>;

struct ImportResult {
  // Its root is empty and its pictures are absolute paths; see copy_pictures().
  Dataset dataset;
  // Why files were refused or repaired, and what to look at; sorted by file and line.
  base::Findings findings;
  std::vector<FileRecord> files;  // sorted
  std::string decision;           // which formats were read, and why; a line an imported folder
  ClassUse classes;
  std::map<std::string, std::int64_t> ignored;  // faces that a rule made regions to ignore, by reason
  std::int64_t decoded = 0;                     // pictures decoded; the rest was known from the cache

  std::int64_t count(Outcome outcome) const;
};

// Throws base::Error (kRefused) when no sample is left, or for classes that options.classes does not map; the
// hint is the option to paste then.
ImportResult import_folders(const std::vector<std::filesystem::path>& folders, const ImportOptions& options);

// Gives every box the class that the map has for it. Throws base::Error (kRefused) for classes that it does
// not have; the hint is the option to paste.
ClassUse map_classes(std::vector<Sample>& samples, const ClassMap& map, const std::string& where);

// One JSON object a line: {"file", "outcome": "used" | "repaired" | "refused", "as"}; why is in the findings.
void write_file_records(const std::vector<FileRecord>& files, const std::filesystem::path& path);

// Copies the pictures to dataset.root/images/<id><ending> and refers to them there. `progress` is called with
// the number done, and may be empty.
void copy_pictures(Dataset& dataset, const std::function<void(std::int64_t)>& progress = {});

}  // namespace maskfit::dataset
