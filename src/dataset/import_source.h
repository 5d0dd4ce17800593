#pragma once

// One imported folder on its way into a dataset: its files, what they are, and which labels each picture has.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dataset/import.h"
#include "dataset/import_content.h"
#include "dataset/import_index.h"
#include "dataset/label_files.h"
#include "dataset/survey.h"

namespace maskfit::dataset {

// A label of a picture: a file of its own, or an entry of an index.
struct LabelRef {
  std::size_t file = 0;  // place in Source::files
  const LabelReader* reader = nullptr;
  const IndexEntry* entry = nullptr;          // when there is no reader
  const formats::YoloNames* names = nullptr;  // for YOLO
  std::string how;                            // how its name differs from the picture's, or ""
};

// A file that no picture needs, and why.
struct Unneeded {
  std::size_t file = 0;
  std::string reason, remedy;
};

// What a folder holds. Made by survey_source(); not copied afterwards, for LabelRefs point into it.
struct Source {
  std::filesystem::path folder;
  std::string id_prefix;  // "" or "name/"
  std::vector<SurveyedFile> files;
  std::vector<Content> contents;
  std::map<std::size_t, IndexFile> indices;         // by file
  std::map<std::size_t, formats::YoloNames> names;  // lists of class names, by file
  std::map<std::size_t, std::vector<LabelRef>>
      labels;  // of each picture that has any, the one to believe first
  std::vector<Unneeded> unneeded;
  std::vector<std::size_t> unlabelled;                // pictures that nothing says anything of
  std::map<std::size_t, std::string> helpers;         // files used beside pictures and labels: what for
  std::vector<std::vector<std::string>> class_lists;  // in the order of each file that lists class names
  base::Findings findings;
  std::string decision;

  // As the user would write it.
  std::string name(std::size_t file) const { return (folder / files[file].path).string(); }
};

void survey_source(const ImportOptions& options, Source* source);

}  // namespace maskfit::dataset
