#pragma once

// Annotation files that hold the labels of many pictures: COCO, CSV, MAFA, WIDER FACE, FDDB. The place to add
// another.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/box_rules.h"
#include "dataset/import.h"
#include "dataset/import_content.h"
#include "dataset/survey.h"

namespace maskfit::dataset {

// What such a file says of one picture.
struct IndexEntry {
  std::string picture;  // as written, with '/' between folders
  int line = 0;         // of the file, or the record's number
  image::Size stated_size;
  std::vector<DrawnBox> boxes;
  std::string refused;  // why a rule leaves the picture out, or ""
};

struct IndexFile {
  LabelFormat format = LabelFormat::kCoco;
  std::vector<IndexEntry> entries;
  std::vector<std::string> class_names;         // in the file's own order, where it has a list
  std::map<std::string, std::int64_t> ignored;  // faces that a rule ignores, by reason
};

// Reads a file whose content is an index, see is_index(). Findings as the parsers give
// them. Throws base::Error for a file that cannot be read as such.
IndexFile read_index(Content content, const std::string& bytes, const std::string& file,
                     const ImportOptions& options, base::Findings* findings);

bool is_index(Content content);
LabelFormat format_of(Content content);             // of an index
const char* index_format_name(LabelFormat format);  // "FDDB"
// Where the pictures of such a set come from and where they belong.
std::string picture_hint(LabelFormat format);

// Finds pictures by the ends of their paths.
class PictureFinder {
 public:
  explicit PictureFinder(const std::vector<SurveyedFile>& files);

  // The one picture whose path ends as `written` does, with the most folders in common; FDDB's and WIDER
  // FACE's names recur under other folders, so that there all that is written must fit. Where several fit,
  // the one whose folder is nearest to the index file's. Nothing when there is none or no telling; *reason
  // says which.
  std::optional<std::size_t> find(const std::string& written, LabelFormat format,
                                  const std::filesystem::path& index_file, std::string* reason) const;

 private:
  const std::vector<SurveyedFile>& files_;
  std::map<std::string, std::vector<std::size_t>> by_name_, by_stem_, by_name_any_case_;
};

}  // namespace maskfit::dataset
