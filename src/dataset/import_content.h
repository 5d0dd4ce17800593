#pragma once

// What a file is, from its first bytes; names and endings lie too often. A label named .jpg, a picture named
// .txt and a Pascal VOC label named .txt are all found in published sets.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "dataset/survey.h"

namespace maskfit::dataset {

enum class Content {
  kPicture,
  kVoc,       // any XML
  kLabelme,   // one JSON a picture
  kCoco,      // one JSON for many
  kMafa,      // MATLAB file of MAFA's layout, or of any other that is not WIDER FACE's
  kWiderMat,  // wider_face_*.mat
  kWiderText,
  kFddb,
  kCsv,
  kKitti,
  kYolo,
  kNames,     // class names, one a line
  kYaml,      // data.yaml
  kPathList,  // a path a line
  kTfrecord,
  kConversion,  // what `maskfit data convert` writes beside its labels
  kEmpty,       // nothing but white space
  kText,        // other text
  kOther,
};

// `name` decides only where the bytes cannot: between a list of class names and other text, and for what is
// empty. `beginning` holds up to kContentBytes of the file; of a JSON, all of it.
Content content_of(std::string_view beginning, const std::filesystem::path& name);
inline constexpr std::size_t kContentBytes = 4096;

// The content of every surveyed file, read on all cores; a file that cannot be read is kOther.
std::vector<Content> identify(const std::filesystem::path& folder, const std::vector<SurveyedFile>& files,
                              const base::StopToken& stop);

// "Pascal VOC label"
const char* content_name(Content content);

}  // namespace maskfit::dataset
