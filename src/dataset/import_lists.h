#pragma once

// Lists of pictures that come with sets: train.txt and val.txt of darknet and of Pascal VOC's ImageSets, and
// the twins of FDDB's ellipse lists.

#include "dataset/import_source.h"

namespace maskfit::dataset {

// Lists that name pictures of the folder, one a line, are no stray files; those called train, val or test put
// those that no folder's name puts into a split there; FDDB's are held against its ellipses. Adds them to
// source->helpers, and findings for what does not fit.
void read_lists(Source* source);

}  // namespace maskfit::dataset
