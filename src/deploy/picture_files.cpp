#include "deploy/picture_files.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::deploy {
namespace fs = std::filesystem;
namespace {

bool has_picture_ending(const fs::path& path) {
  static const std::set<std::string> kEndings = {".jpg", ".jpeg", ".png", ".webp", ".bmp"};
  return kEndings.contains(base::to_lower(path.extension().string()));
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code dangling;  // a link to itself is no picture and no reason to give up the others
    if (entry.is_regular_file(dangling) && has_picture_ending(entry.path())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) {
    throw base::Error(base::ExitCode::kFailed, "there are no pictures in the folder", folder.string(),
                      "name a folder with .jpg, .jpeg, .png, .webp or .bmp files, or the files themselves");
  }
  return paths;
}

// Labels are named after the stem, so stems are what must not meet: a.jpg and a.png become a.jpg and a-2.png.
std::string unique_name(const fs::path& path, std::set<std::string>& taken_stems) {
  std::string stem = path.stem().string();
  for (int n = 2; !taken_stems.insert(stem).second; ++n) stem = fmt::format("{}-{}", path.stem().string(), n);
  return stem + path.extension().string();
}

}  // namespace

std::vector<PictureFile> list_pictures(const std::vector<fs::path>& named) {
  std::vector<PictureFile> pictures;
  std::set<std::string> taken_stems;
  for (const fs::path& path : named) {
    if (!fs::exists(path)) {
      throw base::Error(base::ExitCode::kFailed, "no such picture or folder", path.string());
    }
    for (const fs::path& file : fs::is_directory(path) ? pictures_in(path) : std::vector<fs::path>{path}) {
      pictures.push_back({file, unique_name(file, taken_stems)});
    }
  }
  return pictures;
}

}  // namespace maskfit::deploy
