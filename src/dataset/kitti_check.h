#pragma once

// The reference's --check_labels: a converted picture with its boxes drawn.

#include <filesystem>
#include <string>
#include <vector>

#include "formats/kitti.h"
#include "image/image.h"

namespace maskfit::dataset {

struct CheckedLabels {
  std::filesystem::path picture;
  std::vector<formats::KittiLabel> labels;
  image::Image drawn;  // rectangles of 4 pixels: green mask, red no-mask, grey DontCare, others yellow
};

// Looks for FOLDER/images/STEM.jpg and FOLDER/labels/STEM.txt in base/train, base/test, base/val and
// base itself. Throws base::Error (kRefused) when none has it, or the label cannot be read.
CheckedLabels check_labels(const std::filesystem::path& base, const std::string& stem);

}  // namespace maskfit::dataset
