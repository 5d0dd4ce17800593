#pragma once

// What lies in a folder of pictures and labels, and which label belongs to which picture. Works on names
// alone.

#include <cstddef>
#include <filesystem>
#include <functional>
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

// Every file below `folder`, sorted by path; those with a picture's ending are pictures, in any case, and
// which of the others are labels is for import_content.h to find out. Links to folders are not followed.
// Throws base::Error when the folder cannot be read.
std::vector<SurveyedFile> survey(const std::filesystem::path& folder);

// A picture and its label, by their places in the survey.
struct Pair {
  std::size_t picture = 0;
  std::size_t label = 0;
  std::string how;         // "" when the names are equal, else one clause: what differs ("img_1" and "IMG_1")
  bool by_number = false;  // only the numbers in the names agree; see number_pairs.h
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

// What a label says its picture is called, or "".
using StatedName = std::function<std::string(std::size_t label)>;

// A label belongs to the picture of the same name without its ending (or with it: a.jpg.txt), in the same
// split, whose folder shares the most names with the label's: train/images/a.jpg has train/labels/a.txt and
// not val/labels/a.txt, whatever the folders in between are called. Where several pictures suit a label, the
// one that it states decides. Those that are still alone are paired when their names differ only in such
// words as "img" and "label" (test_img_4, test_label_4) and no other could be meant. Nothing is guessed:
// where there is a choice, all candidates are left, with the reason.
Pairing pair_files(const std::vector<SurveyedFile>& files, const StatedName& stated_name = {});

}  // namespace maskfit::dataset
