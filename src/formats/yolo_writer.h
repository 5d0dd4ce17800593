#pragma once

// YOLO labels as Ultralytics' tools read them: one text file a picture, one box a line,
//
//   class_index  x_center y_center  width height     (fractions of the picture's size)
//
// and one data.yaml with the folders and the class names.

#include <string>
#include <utility>
#include <vector>

#include "boxes/box.h"

namespace maskfit::formats {

// One line without its line end; enough digits for the box to read back within 32-bit rounding.
// REQUIRES width and height > 0.
std::string print_yolo_box(int class_index, const boxes::Box& box_in_image, int width, int height);

// `folders` are pairs like ("train", "images/train"), relative to the file.
std::string print_yolo_data(const std::vector<std::pair<std::string, std::string>>& folders,
                            const std::vector<std::string>& class_names);

}  // namespace maskfit::formats
