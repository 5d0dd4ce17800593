#pragma once

// YOLO (darknet, Ultralytics) labels: one text a picture, one object a line,
//
//   class center_x center_y width height [confidence]        or, for outlines,   class x1 y1 x2 y2 x3 y3 ...
//
// numbers as parts of the picture's sides, the class as a place in a list of names that lies elsewhere:
// data.yaml, classes.txt, obj.names, NAME.names. Without that list a class is only its number.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace maskfit::formats {

struct YoloBox {
  int class_id = 0;
  double center_x = 0, center_y = 0, width = 0, height = 0;  // parts of the picture's sides, nominally 0 .. 1
  bool outline = false;                                      // the box is the one around an outline
  int line = 0;                                              // 1-based
};

// Blank lines are skipped. A line that cannot be read adds one refused finding and is left out; a confidence
// adds a warning, for it shows that a network wrote the file. Numbers that can be no parts (all of them
// pixels, say) are refused. `findings` may not be null.
std::vector<YoloBox> parse_yolo(std::string_view text, const std::string& file, base::Findings* findings);

// Whether the first line that is not blank is one of such a file.
bool is_yolo_text(std::string_view text);

using YoloNames = std::map<int, std::string>;

// The names of a data.yaml: "names: [a, b]", a block list, or a block map "0: a". As much of YAML as these
// files use; empty when there are none.
YoloNames parse_yolo_yaml(std::string_view text);
// One name a line.
YoloNames parse_yolo_name_list(std::string_view text);

}  // namespace maskfit::formats
