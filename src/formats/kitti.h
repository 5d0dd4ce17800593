#pragma once

// KITTI label files: one object a line, 15 fields separated by white space, 16 with a detector's score.
//
//   class truncation occlusion angle  x1 y1 x2 y2  height width length  x y z rotation_y  [score]
//
// Coordinates are zero-based pixels. The format's papers speak of the last pixel, the tools of this field
// (the reference's converter and trainer among them) of the right edge; the values are edges here, as
// written, and nothing is added or taken away: converting a KITTI folder to TFRecords must give the
// reference's numbers.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

struct KittiLabel {
  std::string class_name;
  float truncation = 0;         // 0 .. 1 of the object is outside the picture; -1 unknown
  int occlusion = 0;            // 0 visible, 1 partly, 2 largely hidden, 3 unknown; a fraction is cut off
  float observation_angle = 0;  // radians
  boxes::Box box_in_image;
  float world_height = 0, world_width = 0, world_length = 0;  // metres
  float world_x = 0, world_y = 0, world_z = 0;                // metres, camera frame
  float world_rotation_y = 0;                                 // radians
  std::optional<float> score;
  int line = 0;  // 1-based line of the file it was read from
};

enum class KittiFields {
  k15Or16,     // a score is read, with a warning: labels should not have one
  kExactly15,  // the reference's converter: a score refuses the line
};

// Blank lines are skipped. A line that cannot be read adds one refused finding (file, line, field, value,
// remedy) and is left out. `findings` may not be null.
std::vector<KittiLabel> parse_kitti(std::string_view text, const std::string& file, base::Findings* findings,
                                    KittiFields fields = KittiFields::k15Or16);

// One line without its line end; numbers in the shortest form that reads back the same. A blank in the class
// name would shift the fields and is written as '_'.
std::string print_kitti(const KittiLabel& label);

// A line of 16 fields for what a network found, with the reference's fixed decimals: two for the fields that
// a detector does not know, three for the box and the confidence. `corners` are x1, y1, x2, y2.
std::string print_kitti_detection(const std::string& class_name, const std::array<double, 4>& corners,
                                  double confidence);

}  // namespace maskfit::formats
