#pragma once

// Writes what pascal_voc.h reads: edges, as nearly every tool of this field does, not the original VOC's
// one-based inclusive pixels.

#include <string>

#include "formats/pascal_voc.h"

namespace maskfit::formats {

// One XML file; `database` and `line` are not written. Coordinates in the shortest form that reads back the
// same.
std::string print_pascal_voc(const VocAnnotation& annotation);

}  // namespace maskfit::formats
