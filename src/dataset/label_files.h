#pragma once

// One label file of a format as boxes: the place to add a format of one label file a picture.

#include <optional>
#include <string>
#include <vector>

#include "dataset/box_rules.h"
#include "dataset/import.h"
#include "dataset/import_content.h"
#include "formats/yolo.h"

namespace maskfit::dataset {

struct ReadLabel {
  image::Size stated_size;  // 0 x 0 when the label does not tell
  std::vector<DrawnBox> boxes;
};

// What a reader may need beside the file.
struct LabelContext {
  const ImportOptions* options = nullptr;
  const formats::YoloNames* names =
      nullptr;          // of YOLO's numbers; null: none, a class is called by its number
  image::Size upright;  // of the picture, for boxes that are parts of its sides
};

struct LabelReader {
  LabelFormat format;
  Content content;
  const char* option;  // "voc", the value of --from
  const char* name;    // "Pascal VOC"
  // Boxes as written, classes under their own names. Nothing when the file is no label of this format; the
  // last finding says why then.
  std::optional<ReadLabel> (*read)(const std::string& text, const std::string& file,
                                   const LabelContext& context, base::Findings* findings);
  // The picture that the file names, or "".
  std::string (*stated_picture)(const std::string& text);
};

// In the order in which they are believed where several label one picture: names and sizes before bare
// numbers.
const std::vector<LabelReader>& label_readers();

}  // namespace maskfit::dataset
