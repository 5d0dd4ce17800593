#pragma once

// A maskfit dataset: a folder with a manifest. Pictures are referenced where they lie unless they were copied.
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
};

struct LabeledBox {
  boxes::Box box_in_image;
  std::string class_name;
  bool ignore = false;  // neither an object nor background
  KittiExtras kitti;
};

struct Sample {
  std::string id;               // unique in the dataset; the picture's relative path without its ending
  std::filesystem::path image;  // absolute, or relative to the dataset's folder
  int width = 0, height = 0;    // upright pixels
  std::vector<LabeledBox> boxes;
  std::string split;            // "train", "val", "test"
  std::string group;            // samples of one group never part in a split; "" = its own group
};

struct Dataset {
  std::filesystem::path root;            // the dataset's folder; relative image paths start here
  std::vector<std::string> class_names;  // sorted by name unless given
  std::vector<Sample> samples;           // sorted by id

  std::filesystem::path image_path(const Sample& sample) const;
  std::vector<const Sample*> split(const std::string& name) const;
};

// Throws base::Error (kRefused) with file and line for a broken manifest.
Dataset read_dataset(const std::filesystem::path& folder);
// Writes the manifest; each file atomically, dataset.json last, so a half-written dataset is not recognised as one.
void write_dataset(const Dataset& dataset, const base::Findings& findings, const std::string& provenance);
// SHA-256 over ids, sizes, boxes, classes and splits; the same wherever the pictures lie.
std::string digest(const Dataset& dataset);

struct SplitOptions {
  double val_percent = 20;
  std::uint64_t seed = 42;
};
// Deterministic and group-aware: whole groups go to one side, whichever order the samples come in. Samples that already
// carry a split keep it.
void assign_splits(std::vector<Sample>& samples, const SplitOptions& options);

// Whatever the user names as data: a maskfit dataset, a KITTI folder (images/ + labels/), a Pascal VOC folder, or a
// TFRecord glob with an image folder. Recognised by content. `findings` may be null.
Dataset open_data(const std::filesystem::path& path, base::Findings* findings = nullptr);

}  // namespace maskfit::dataset
