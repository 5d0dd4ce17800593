#pragma once

// What one file is, by its content. Its name only helps where the content cannot tell: a picture's place in a
// set, a fold's number.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"

namespace maskfit::dataset {

enum class FoundKind {
  kOther,
  kPicture,
  kVocLabel,
  kMafaTrain,
  kMafaTest,
  kFddbEllipses,
  kFddbList,
  kWiderMat,  // with boxes
  kWiderText,
  kWiderTestList,  // names without boxes, .mat or .txt
};

struct FoundFile {
  std::string path;            // for people and for recognition; inside an archive "x.zip/a/b.jpg"
  std::filesystem::path file;  // on disk: the file itself, or the archive that holds it
  std::string inside;          // path in the archive; "" for a file on disk
  std::uint64_t size = 0;
  FoundKind kind = FoundKind::kOther;
  std::vector<std::string> names;  // pictures that a label file lists
  std::uint64_t faces = 0;         // that a label file holds
  std::set<std::string> classes;   // of a VOC label
  std::string stated_picture;      // of a VOC label
};

// `first`: the first bytes; `whole` gives all of them and is called only for what may be a label file of
// bearable size. Fills in kind and what belongs to it. A label file that cannot be read adds a finding.
void recognise(FoundFile& file, std::string_view first, const std::function<std::string()>& whole,
               base::Findings* findings);

// "andrewmvd" numbers its pictures: "maksssksksss17" -> 17, others -> -1.
int kaggle_number(std::string_view stem);
// ".../2002/08/11/big/img_591.jpg" -> "2002/08/11/big/img_591"; "" when the path does not end so.
std::string fddb_path(std::string_view path);
// ".../0--Parade/0_Parade_a_1.jpg" -> "0--Parade/0_Parade_a_1.jpg"; "" when the path does not end so.
std::string wider_path(std::string_view path);
// ".../train_00000001.jpg" -> "train_00000001.jpg", in lower case; "" when the name is none of MAFA's.
std::string mafa_name(std::string_view path);

// Parts of a path.
std::string name_of(std::string_view path);
std::string stem_of(std::string_view path);
std::string folder_of(std::string_view path);

}  // namespace maskfit::dataset
