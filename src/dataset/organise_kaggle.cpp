// The two Kaggle sets of medical masks: Pascal VOC labels beside pictures. They have no list, so the labels
// themselves tell: their class names, and the names of their pictures.

#include <algorithm>

#include "base/text.h"
#include "dataset/organise_sets.h"
#include "fetch/address.h"

namespace maskfit::dataset {
namespace {

constexpr int kKagglePictures = 853;  // numbered from 0
const std::set<std::string> kAndrewmvdClasses = {"with_mask", "without_mask", "mask_weared_incorrect"};
// The older set had good and bad, renamed to mask and none later.
const std::set<std::string> kMedicalClasses = {"mask", "none", "poor", "good", "bad"};

bool within(const std::set<std::string>& classes, const std::set<std::string>& allowed) {
  return std::includes(allowed.begin(), allowed.end(), classes.begin(), classes.end());
}

using Pictures = std::multimap<std::string, const FoundFile*>;  // by stem

Pictures pictures_by_stem(const PictureUse& use) {
  Pictures pictures;
  for (const FoundFile* file : use.of_kind(FoundKind::kPicture)) pictures.emplace(stem_of(file->path), file);
  return pictures;
}

void lay_out_andrewmvd(PictureUse& use, Layout& layout, OrganiseReport* report) {
  Inventory pictures, labels;
  for (const FoundFile* file : use.of_kind(FoundKind::kVocLabel)) {
    int number = kaggle_number(stem_of(file->path));
    if (number < 0) number = kaggle_number(stem_of(file->stated_picture));  // a renamed label
    if (number < 0 || !within(file->classes, kAndrewmvdClasses)) continue;
    use.claim(file);
    const std::string stem = "maksssksksss" + std::to_string(number);
    layout["kaggle/labels/" + stem + ".xml"].push_back(file);
    labels.found.insert(stem);
  }
  for (const FoundFile* file : use.of_kind(FoundKind::kPicture)) {
    const std::string stem = stem_of(file->path);
    if (kaggle_number(stem) < 0) continue;
    use.claim(file);
    layout["kaggle/images/" + stem + ".png"].push_back(file);
    pictures.found.insert(stem);
  }
  if (!labels.found.empty() || !pictures.found.empty()) {
    for (int i = 0; i < kKagglePictures; ++i) {
      labels.listed.insert("maksssksksss" + std::to_string(i));
      pictures.listed.insert("maksssksksss" + std::to_string(i));
    }
  }
  report->parts.push_back(labels.status("kaggle", "labels", kKagglePictures));
  report->parts.push_back(pictures.status("kaggle", "pictures", kKagglePictures));
}

// Label folders whose classes are those of the older set, and not just "mask", which many have.
std::map<std::string, std::vector<const FoundFile*>> medical_folders(const PictureUse& use) {
  std::map<std::string, std::vector<const FoundFile*>> folders;
  for (const FoundFile* file : use.of_kind(FoundKind::kVocLabel))
    folders[folder_of(file->path)].push_back(file);
  std::erase_if(folders, [](const auto& folder) {
    std::set<std::string> classes;
    for (const FoundFile* file : folder.second) classes.insert(file->classes.begin(), file->classes.end());
    classes.erase("");
    return !within(classes, kMedicalClasses) || classes.empty() || classes == std::set<std::string>{"mask"};
  });
  return folders;
}

// The picture of this label: the one of its stem whose folder is the label's own or a sibling of it.
const FoundFile* picture_of(const FoundFile& label, const Pictures& pictures) {
  const FoundFile* best = nullptr;
  const auto [begin, end] = pictures.equal_range(stem_of(label.path));
  const std::string own = folder_of(label.path);
  for (auto at = begin; at != end; ++at) {
    const std::string folder = folder_of(at->second->path);
    if (folder == own) return at->second;
    if (folder_of(folder) == folder_of(own)) best = at->second;
  }
  return best;
}

void lay_out_medical(PictureUse& use, Layout& layout, OrganiseReport* report) {
  Inventory pictures, labels;
  const Pictures by_stem = pictures_by_stem(use);
  for (const auto& [folder, files] : medical_folders(use)) {
    for (const FoundFile* label : files) {
      const FoundFile* picture = picture_of(*label, by_stem);
      const std::string stem = fetch::safe_file_name(stem_of(label->path));
      use.claim(label);
      if (stem.empty()) continue;
      layout["kaggle-medical/labels/" + stem + ".xml"].push_back(label);
      labels.found.insert(stem);
      pictures.listed.insert(stem);
      if (picture == nullptr) continue;
      use.claim(picture);
      const std::string name = name_of(picture->path);
      layout["kaggle-medical/images/" + stem + base::to_lower(name.substr(stem_of(name).size()))].push_back(
          picture);
      pictures.found.insert(stem);
    }
  }
  report->parts.push_back(labels.status("kaggle-medical", "labels", 0));
  report->parts.push_back(pictures.status("kaggle-medical", "pictures", 0));
}

}  // namespace

void lay_out_kaggle(PictureUse& use, Layout& layout, OrganiseReport* report) {
  lay_out_andrewmvd(use, layout, report);
  lay_out_medical(use, layout, report);
}

}  // namespace maskfit::dataset
