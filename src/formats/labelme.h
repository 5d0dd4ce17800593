#pragma once

// LabelMe annotations: one JSON a picture, {"imagePath", "imageWidth", "imageHeight", "shapes": [{"label",
// "shape_type", "points": [[x, y], ...]}]}. A box is the one around a rectangle's or an outline's points.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

struct LabelmeShape {
  std::string class_name;
  boxes::Box box_in_image;  // half open, not clipped
  int index = 0;            // 1-based place among the shapes
};

struct LabelmeAnnotation {
  std::string image_path;     // as stated
  int width = 0, height = 0;  // as stated; 0 when missing
  std::vector<LabelmeShape> shapes;
};

// Whether the text can be such a file.
bool is_labelme_text(std::string_view text);

// A shape that is no box (a point, a line, fewer points than it needs) adds a refused finding whose `line` is
// its place. Empty when the file is no such annotation; the last finding says why then. `findings` may not be
// null.
std::optional<LabelmeAnnotation> parse_labelme(std::string_view text, const std::string& file,
                                               base::Findings* findings);

}  // namespace maskfit::formats
