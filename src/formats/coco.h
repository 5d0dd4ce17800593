#pragma once

// COCO detection annotations: one JSON for many pictures,
//
//   {"images": [{"id", "file_name", "width", "height"}], "categories": [{"id", "name"}],
//    "annotations": [{"id", "image_id", "category_id", "bbox": [x, y, w, h], "iscrowd", "segmentation"}]}
//
// Numbers of categories are keys and nothing else: they may begin anywhere and have gaps, and what leaves
// this file is the name.

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "boxes/box.h"

namespace maskfit::formats {

struct CocoObject {
  std::string class_name;
  boxes::Box box_in_image;  // half open, as written
  bool crowd = false;       // a region of many: not an object, and not background
  int index = 0;            // 1-based place among the annotations
};

struct CocoImage {
  std::string file_name;      // may hold folders, of another machine too
  int width = 0, height = 0;  // as stated; 0 when missing
  std::vector<CocoObject> objects;
};

// Whether the text can be such a file: a JSON object with "images" and "annotations".
bool is_coco_text(std::string_view text);

// Images in the order of the file, each with its objects. Left out with a refused finding (its `line` is the
// place in the list): annotations of an image or a category that the file does not have or has twice with
// different content, of no box, and exact repetitions. Throws base::Error (kRefused) with line and column for
// what is no JSON.
// `categories`, which may be null, gets the names of the categories in the order of their list, each once.
std::vector<CocoImage> parse_coco(std::string_view text, const std::string& file, base::Findings* findings,
                                  std::vector<std::string>* categories = nullptr);

}  // namespace maskfit::formats
