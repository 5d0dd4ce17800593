#pragma once

// One picture of convert_to_kitti() and its label lines.

#include <string>
#include <vector>

#include "dataset/kitti_convert.h"

namespace maskfit::dataset {

struct KittiPicture {
  image::Size stored;  // 0 x 0 when it cannot be read
  int orientation = 1;
  std::string jpeg;                // of the output size; empty until encode_picture()
  std::vector<std::string> notes;  // of the decoder
  std::string error, hint;         // why it cannot be read
};

// The header alone.
KittiPicture look_at_picture(const std::filesystem::path& file);
// Decodes, scales and encodes. EXIF is not applied: these sets were drawn on the stored pixels. Transparent
// pictures are laid on white. Shrinks with an area-aware filter, enlarges with Lanczos; JPEG quality 92.
void encode_picture(const std::filesystem::path& file, const SelectionOptions& options,
                    KittiPicture* picture);

// The whole label file of a decision.
std::string label_text(KittiSet set, const PictureDecision& decision, image::Size stored,
                       const KittiOptions& options);

}  // namespace maskfit::dataset
