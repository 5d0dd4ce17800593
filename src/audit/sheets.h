#pragma once

// Contact sheets: a dataset as pictures of many pictures, to be looked at.

#include <string>
#include <vector>

#include "audit/audit.h"
#include "loader/batch_planner.h"
#include "loader/picture_set.h"
#include "targets/rasterise.h"

namespace maskfit::audit {

struct Sheet {
  std::string name;  // "class-mask", a file's stem
  image::Image picture;
};

struct SheetOptions {
  int tiles = 48;  // of one sheet
  int columns = 8;
  int tile_side = 200;  // pixels
  std::uint64_t seed = 42;
  NetworkView network;
  int threads = 0;
};

// Faces of each class, drawn at random, cut out with some of their surroundings.
std::vector<Sheet> sheets_by_class(const dataset::Dataset& data, const SheetOptions& options);
// Faces from the smallest to the largest on the network's input, in even steps of their rank.
std::vector<Sheet> sheets_by_size(const dataset::Dataset& data, const SheetOptions& options);
// Whole pictures of each source, drawn at random, with their boxes.
std::vector<Sheet> sheets_by_source(const dataset::Dataset& data, const Sources& sources,
                                    const SheetOptions& options);
// The worst examples of each finding.
std::vector<Sheet> sheets_of_findings(const Audit& audit, const dataset::Dataset& data,
                                      const SheetOptions& options);

// A training as its network sees it.
struct TrainingEyes {
  const loader::PictureSet& pictures;
  const loader::BatchPlanner& planner;
  targets::RasterShapes shapes;
  boxes::GridGeometry geometry;
  targets::BoxCoding coding;
};

// The first batches of epoch 1, augmented, with the boxes that the network is to find.
Sheet sheet_of_augmented(const TrainingEyes& eyes, const SheetOptions& options);
// The same pictures in grey with the cells of their coverage targets in the classes' colours.
Sheet sheet_of_targets(const TrainingEyes& eyes, const SheetOptions& options);

}  // namespace maskfit::audit
