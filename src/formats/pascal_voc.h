#pragma once

// Pascal VOC annotations: one XML file a picture.
//
//   <annotation> <filename> <size> <width> <height> ... <object>* { <name> <bndbox> <xmin> <ymin> <xmax>
//   <ymax> } ...
//
// The original VOC sets count pixels from 1 and include the last one: [xmin, xmax] covers the edges xmin - 1
// .. xmax. Nearly every other writer of the format (labelImg, CVAT, label converters) stores edges. VocPixels
// says which is meant; this is the only place that knows.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

enum class VocPixels {
  kAuto,   // one-based for files that name an original VOC database ("The VOC2007 Database"), edges otherwise
  kEdges,  // xmin .. xmax as written
  kOneBasedInclusive,  // xmin - 1 .. xmax
};

struct VocObject {
  std::string class_name;
  boxes::Box box_in_image;
  bool difficult = false;
  bool truncated = false;
  bool occluded = false;
  int line = 0;  // 1-based line of <object>
};

struct VocAnnotation {
  std::string filename;       // as stated; often wrong in the wild
  std::string database;       // source/database
  int width = 0, height = 0;  // as stated; 0 when missing or not a whole number
  std::vector<VocObject> objects;
};

// Reads what is there and means the same under common other spellings (element names in any case, with or
// without '_' and
// '-': bndBox, bounding_box, box; x_min, left; label, class; coordinates with a fraction). An object that
// cannot be read adds one refused finding with its line and is left out. Empty when the file is no VOC
// annotation at all; the reason is the last finding then. `findings` may not be null.
std::optional<VocAnnotation> parse_pascal_voc(std::string_view text, const std::string& file,
                                              base::Findings* findings, VocPixels pixels = VocPixels::kAuto);

}  // namespace maskfit::formats
