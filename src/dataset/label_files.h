#pragma once

// One label file of a format as boxes: the place to add a format of one label file a picture.

#include <optional>
#include <string>
#include <vector>

#include "dataset/box_rules.h"
#include "dataset/import.h"

namespace maskfit::dataset {

struct ReadLabel {
  image::Size stated_size;  // 0 x 0 when the label does not tell
  std::vector<DrawnBox> boxes;
};

struct LabelReader {
  LabelFormat format;
  const char* option;  // "voc", the value of --from
  const char* name;    // "Pascal VOC"
  const char* ending;  // ".xml"
  // Boxes as written, classes under their own names. Nothing when the file is no label of this format; the
  // last finding says why then.
  std::optional<ReadLabel> (*read)(const std::string& text, const std::string& file,
                                   const ImportOptions& options, base::Findings* findings);
};

const std::vector<LabelReader>& label_readers();

}  // namespace maskfit::dataset
