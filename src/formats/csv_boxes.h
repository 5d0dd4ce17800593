#pragma once

// Boxes as comma-separated values, a line a box, as TensorFlow's object detection tutorials and Roboflow
// write them:
//
//   filename,width,height,class,xmin,ymin,xmax,ymax
//
// The first line names the columns; they may come in any order, others may lie between, and width and height
// may be missing. A line without class and box lists a picture that shows no object.

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

struct CsvObject {
  std::string class_name;
  boxes::Box box_in_image;  // edges, as written
  int line = 0;
};

struct CsvImage {
  std::string file_name;
  int width = 0, height = 0;  // as stated first; 0 when missing
  int line = 0;               // where it is named first
  std::vector<CsvObject> objects;
};

// Whether the first line names a picture's file, a class and the four edges.
bool is_csv_boxes_text(std::string_view text);

// Pictures in the order in which they are named. A line that cannot be read adds one refused finding and is
// left out. Throws base::Error (kRefused) when the first line does not name the columns.
std::vector<CsvImage> parse_csv_boxes(std::string_view text, const std::string& file,
                                      base::Findings* findings);

}  // namespace maskfit::formats
