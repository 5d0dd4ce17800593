#pragma once

// What the user names as pictures: files and folders, turned into a list with one output name each.

#include <filesystem>
#include <string>
#include <vector>

namespace maskfit::deploy {

struct PictureFile {
  std::filesystem::path path;
  // Unique in the list, without folder: the file's name, or "<stem>-2<ending>" where two folders hold the
  // same name.
  std::string output_name;
};

// Folders give their .jpg, .jpeg, .png, .webp, .bmp files (any case) in order of their names, not those of
// folders in them; files are taken whatever they are called. Throws base::Error (kFailed) naming a path that
// does not exist, or a folder without pictures.
std::vector<PictureFile> list_pictures(const std::vector<std::filesystem::path>& named);

}  // namespace maskfit::deploy
