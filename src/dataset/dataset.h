#pragma once

// A maskfit dataset: a folder with a manifest. Pictures are referenced where they lie unless they were
// copied.
//
//   DATASET/dataset.json    format version, class names, how it was made, counts, digest
//   DATASET/samples.jsonl   one sample a line, sorted by id (docs/dataset-format.md)
//   DATASET/findings.jsonl  what the import repaired, warned about or refused
//   DATASET/images/...      only with --mode copy

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::dataset {

// The rest of a KITTI line; kept so that a dataset converts to KITTI and TFRecords without loss.
struct KittiExtras {
  float truncation = 0;
  int occlusion = 0;
  float observation_angle = 0;
  float world_height = 0, world_width = 0, world_length = 0;
  float world_x = 0, world_y = 0, world_z = 0, world_rotation_y = 0;
  bool operator==(const KittiExtras&) const = default;
};

struct LabeledBox {
  boxes::Box box_in_image;
  std::string class_name;
  bool ignore = false;  // neither an object nor background
  KittiExtras kitti;
  bool operator==(const LabeledBox&) const = default;
};

struct Sample {
  std::string id;               // unique in the dataset; the picture's relative path without its ending
  std::filesystem::path image;  // absolute, or relative to the dataset's folder
  int width = 0, height = 0;    // upright pixels
  std::vector<LabeledBox> boxes;
  std::string split;  // "train", "val", "test"
  std::string group;  // samples of one group never part in a split; "" = its own group
  bool operator==(const Sample&) const = default;
};

struct Dataset {
  std::filesystem::path root;            // the dataset's folder; relative image paths start here
  std::vector<std::string> class_names;  // sorted by name unless given
  std::vector<Sample> samples;           // sorted by id

  std::filesystem::path image_path(const Sample& sample) const;
  std::vector<const Sample*> split(const std::string& name) const;
};

// True when the folder holds a finished manifest.
bool is_dataset(const std::filesystem::path& folder);
// Throws base::Error (kRefused) with file and line for a broken manifest.
Dataset read_dataset(const std::filesystem::path& folder);
// Writes the manifest; each file atomically, dataset.json last, so a half-written dataset is not recognised
// as one. `provenance` says in one line how the dataset was made. Throws base::Error (kRefused) for what no
// manifest may hold: an id twice, a class outside class_names, a name that is not UTF-8.
void write_dataset(const Dataset& dataset, const base::Findings& findings, const std::string& provenance);
// What write_dataset() stored beside the samples.
std::string read_provenance(const std::filesystem::path& folder);
base::Findings read_findings(const std::filesystem::path& folder);
// SHA-256 over ids, sizes, boxes, classes and splits; the same wherever the pictures lie.
std::string digest(const Dataset& dataset);

// How many pictures and boxes a split holds.
struct Counts {
  std::int64_t samples = 0;
  std::int64_t without_objects = 0;           // of these, how many have no box but ignored ones
  std::int64_t ignored = 0;                   // boxes to ignore
  std::map<std::string, std::int64_t> boxes;  // by class, without the ignored
};
// By split name; every split that occurs.
std::map<std::string, Counts> count_by_split(const Dataset& dataset);

// Sorts samples by id and, where class_names is empty, fills it with the classes that occur, sorted.
void normalise(Dataset& dataset);

struct SplitOptions {
  double val_percent = 20;  // of the samples that carry no split yet, 0 .. 100
  std::uint64_t seed = 42;
};
// Deterministic and group-aware: whole groups go to one side, whichever order the samples come in. Samples
// that already carry a split keep it, and the rest of their group joins them. A validation part that would
// round to nothing gets one group, as long as one is left to train on.
void assign_splits(std::vector<Sample>& samples, const SplitOptions& options);

// Whatever the user names as data, recognised by content: a maskfit dataset, a folder of pictures with KITTI
// or Pascal VOC labels, or TFRecords with their pictures as "GLOB@IMAGE_FOLDER" (fold 0 validates). Classes
// keep their names, in lower case as the reference's converter stores them; "DontCare" boxes are ignored; a
// folder without a validation part gets one by assign_splits(). `findings` may be null.
Dataset open_data(const std::filesystem::path& path, base::Findings* findings = nullptr);

}  // namespace maskfit::dataset
