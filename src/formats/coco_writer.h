#pragma once

// COCO's "instances" files: one JSON file for all pictures of a split, with
//
//   images       id, file_name, width, height
//   annotations  id, image_id, category_id, bbox [x, y, width, height] in pixels, area, iscrowd
//   categories   id, name
//
// Ids count from 1, in the order of the calls. A box to ignore is a crowd, which COCO's evaluation neither
// rewards nor punishes.

#include <cstdint>
#include <string>
#include <vector>

#include "boxes/box.h"

namespace maskfit::formats {

// Builds the text piece by piece, so that only the text itself is in memory.
class CocoWriter {
 public:
  // `categories` in the order of their ids.
  explicit CocoWriter(const std::vector<std::string>& categories);

  // The picture that the next boxes belong to. `file_name` is UTF-8, relative to the folder of the pictures.
  void add_image(const std::string& file_name, int width, int height);
  // `category` is a place in the list of categories, from 0. REQUIRES an image.
  void add_box(int category, const boxes::Box& box_in_image, bool ignore);
  // The whole file.
  std::string text() const;

 private:
  std::string categories_, images_, annotations_;
  std::int64_t num_images_ = 0, num_annotations_ = 0;
};

}  // namespace maskfit::formats
