#pragma once

// What inference leaves behind, in the reference's places:
//   OUT/images_annotated/<name>   the picture with boxes and captions
//   OUT/labels/<stem>.txt         KITTI, 16 fields, the last one the confidence; empty when nothing was found
//   OUT/detections.json           all pictures: [{"image", "width", "height", "detections": [{"class",
//   "confidence",
//                                 "box": [x1, y1, x2, y2]}]}], pixels of the upright picture

#include <filesystem>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "deploy/picture_files.h"
#include "image/image.h"

namespace maskfit::deploy {

struct ResultWriterOptions {
  bool annotated = true, kitti = true, json = true;
  int line_width = 2;  // pixels
};

class ResultWriter {
 public:
  // class_names: as the model calls its classes, in its order.
  ResultWriter(std::filesystem::path folder, std::vector<std::string> class_names,
               ResultWriterOptions options);

  // Writes this picture's files at once. detections: in pixels of `picture`.
  void add(const PictureFile& file, const image::Image& picture, const boxes::Detections& detections);
  // Writes detections.json. Call once, after the last picture.
  void finish() const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> class_names_;
  ResultWriterOptions options_;
  std::vector<std::string> json_lines_;  // one object a picture
};

// The longest name that a result of this picture gets, in bytes. The system allows kLongestName.
constexpr std::size_t kLongestName = 255;
std::size_t longest_result_name(const PictureFile& file);

// "mask 0.00 0 0.00 x1 y1 x2 y2 0.00 0.00 0.00 0.00 0.00 0.00 0.00 confidence", a line a detection.
std::string kitti_text(const boxes::Detections& detections_in_image,
                       const std::vector<std::string>& class_names);
// A copy of the picture with boxes and captions "class: 0.93", thicker on bigger pictures.
image::Image annotate(const image::Image& picture, const boxes::Detections& detections_in_image,
                      const std::vector<std::string>& class_names, int line_width);

}  // namespace maskfit::deploy
