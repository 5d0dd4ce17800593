#pragma once

// What lies in a folder of pictures and labels, and which label belongs to which picture. Works on names
// alone.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace maskfit::dataset {

enum class FileKind { kPicture, kLabel, kOther };

struct SurveyedFile {
  std::filesystem::path path;  // relative to the folder
  FileKind kind = FileKind::kOther;
  // "train", "val", "test" after a folder of that name (in any case; also "valid", "testing", ...), or "".
  std::string split;
};

// Every file below `folder`, sorted by path; those that end in `label_ending` (".xml"), in any case, are
// labels. Links to folders are not followed. Throws base::Error when the folder cannot be read.
std::vector<SurveyedFile> survey(const std::filesystem::path& folder, const std::string& label_ending);

// A picture and its label, by their places in the survey.
struct Pair {
  std::size_t picture = 0;
  std::size_t label = 0;
  bool case_differs = false;  // "IMG_1.JPG" and "img_1.xml"
};

struct Pairing {
  std::vector<Pair> pairs;
  struct Left {
    std::size_t file = 0;
    std::string reason;  // why it has no partner
    bool alone = false;  // because no file of the other kind has its name
  };
  std::vector<Left> left;  // pictures and labels
};

// A label belongs to the picture of the same name without its ending, in the same split, whose folder shares
// the most names with the label's: train/images/a.jpg has train/labels/a.txt and not val/labels/a.txt,
// whatever the folders in between are called. Where that leaves a choice, nothing is guessed: all candidates
// are left, with the reason.
Pairing pair_files(const std::vector<SurveyedFile>& files);

}  // namespace maskfit::dataset
