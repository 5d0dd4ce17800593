#include "dataset/survey.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPictureEndings[] = {".jpg", ".jpeg", ".jpe", ".jfif", ".png",  ".webp",
                                           ".bmp", ".gif",  ".tif", ".tiff", ".heic", ".avif"};

struct SplitName {
  const char* folder;
  const char* split;
};
constexpr SplitName kSplitNames[] = {{"train", "train"}, {"training", "train"}, {"val", "val"},
                                     {"valid", "val"},   {"validation", "val"}, {"test", "test"},
                                     {"testing", "test"}};

std::string split_of(const fs::path& relative) {
  std::string split;
  for (const fs::path& part : relative.parent_path()) {
    const std::string name = base::to_lower(part.string());
    for (const SplitName& known : kSplitNames) {
      if (name == known.folder) split = known.split;
    }
  }
  return split;
}

FileKind kind_of(const fs::path& path) {
  if (path.filename().string().starts_with('.'))
    return FileKind::kOther;  // ".a.jpg" of another system's bookkeeping
  const std::string ending = base::to_lower(path.extension().string());
  const bool picture =
      std::find(std::begin(kPictureEndings), std::end(kPictureEndings), ending) != std::end(kPictureEndings);
  return picture ? FileKind::kPicture : FileKind::kOther;
}

// Length of the longest common subsequence of the folder names.
int shared_folders(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> parts_a(a.begin(), a.end()), parts_b(b.begin(), b.end());
  std::vector<int> row(parts_b.size() + 1, 0);
  for (const fs::path& part : parts_a) {
    int diagonal = 0;
    for (std::size_t j = 1; j <= parts_b.size(); ++j) {
      const int above = row[j];
      row[j] = part == parts_b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

std::string joined(const std::vector<std::size_t>& indices, const std::vector<SurveyedFile>& files) {
  std::string text;
  for (const std::size_t index : indices) text += (text.empty() ? "" : ", ") + files[index].path.string();
  return text;
}

// "test_img_4" and "test_label_4" -> "test_*_4"; "" when no such word is in the name.
std::string without_kind_words(const std::string& stem) {
  static constexpr std::string_view kWords[] = {"img",   "image", "images", "pic", "picture",
                                                "photo", "label", "labels", "ann", "annotation",
                                                "annot", "bbox",  "box",    "gt"};
  std::string out, word;
  bool any = false;
  const auto end_word = [&] {
    const bool known = std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
    any = any || known;
    out += known ? "*" : word;
    word.clear();
  };
  for (const char c : base::to_lower(stem)) {
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else {
      end_word();
      out += c;
    }
  }
  end_word();
  return any && out != "*" ? out : "";
}

class Pairer {
 public:
  Pairer(const std::vector<SurveyedFile>& files, const StatedName& stated_name)
      : files_(files), stated_name_(stated_name), claims_(files.size()), spoken_for_(files.size()) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].kind != FileKind::kPicture) continue;
      pictures_[files[i].path.filename().string()].push_back(i);
      pictures_[files[i].path.stem().string()].push_back(i);
      pictures_any_case_[base::to_lower(files[i].path.stem().string())].push_back(i);
    }
  }

  Pairing pair() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].kind == FileKind::kLabel) claim(i);
    }
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].kind == FileKind::kPicture) settle(i);
    }
    pair_by_number();
    std::sort(pairing_.left.begin(), pairing_.left.end(),
              [](const Pairing::Left& a, const Pairing::Left& b) { return a.file < b.file; });
    return std::move(pairing_);
  }

 private:
  // The pictures that suit the label best; several when they suit it equally.
  std::vector<std::size_t> best_pictures(std::size_t label, const std::vector<std::size_t>& candidates,
                                         int* score) const {
    std::vector<std::size_t> best;
    *score = -1;
    for (const std::size_t picture : candidates) {
      if (files_[picture].split != files_[label].split) continue;
      const int shared = shared_folders(files_[label].path.parent_path(), files_[picture].path.parent_path());
      if (shared < *score) continue;
      if (shared > *score) best.clear();
      *score = shared;
      best.push_back(picture);
    }
    return best;
  }

  void claim(std::size_t label) {
    const std::string stem = files_[label].path.stem().string();
    int score = 0;
    auto best = best_pictures(label, find(pictures_, stem), &score);
    bool case_differs = best.empty();
    // "a.jpg.txt" and "a.xml.txt"
    if (best.empty()) best = best_pictures(label, find(pictures_, fs::path(stem).stem().string()), &score);
    case_differs = best.empty();
    if (case_differs) best = best_pictures(label, find(pictures_any_case_, base::to_lower(stem)), &score);
    if (best.size() > 1) keep_stated(label, &best);
    if (best.empty()) {
      pairing_.left.push_back({label, "there is no picture of this name", true});
    } else if (best.size() > 1) {
      const std::string names = joined(best, files_);
      pairing_.left.push_back({label, "it could belong to any of " + names, false});
      for (const std::size_t picture : best) spoken_for_[picture] = files_[label].path.string();
    } else {
      claims_[best[0]].push_back({label, score, case_differs});
    }
  }

  // Of several pictures the one that the label names, if it names one of them.
  void keep_stated(std::size_t label, std::vector<std::size_t>* pictures) const {
    if (!stated_name_) return;
    const std::string stated = stated_name_(label);
    for (const std::size_t picture : *pictures) {
      if (files_[picture].path.filename().string() != stated) continue;
      *pictures = {picture};
      return;
    }
  }

  void pair_by_number() {
    std::map<std::string, std::vector<std::size_t>> alone[2];  // of pictures, of labels
    for (const Pairing::Left& left : pairing_.left) {
      const SurveyedFile& file = files_[left.file];
      const std::string key = left.alone ? without_kind_words(file.path.stem().string()) : "";
      if (!key.empty()) alone[file.kind == FileKind::kLabel][file.split + "/" + key].push_back(left.file);
    }
    for (const auto& [key, labels] : alone[1]) {
      const auto pictures = alone[0].find(key);
      if (pictures == alone[0].end() || labels.size() != 1 || pictures->second.size() != 1) continue;
      const std::size_t picture = pictures->second[0], label = labels[0];
      pairing_.pairs.push_back({picture, label,
                                fmt::format("its picture is called {}, which fits no other label",
                                            files_[picture].path.filename().string()),
                                true});
      std::erase_if(pairing_.left,
                    [&](const Pairing::Left& left) { return left.file == picture || left.file == label; });
    }
  }

  void settle(std::size_t picture) {
    auto& claims = claims_[picture];
    if (claims.empty()) {
      const std::string& label = spoken_for_[picture];
      pairing_.left.push_back({picture,
                               label.empty() ? "there is no label of this name"
                                             : fmt::format("several pictures share the label {}", label),
                               label.empty()});
      return;
    }
    const auto rank = [](const Claim& claim) { return std::pair(!claim.case_differs, claim.score); };
    std::stable_sort(claims.begin(), claims.end(),
                     [&](const Claim& a, const Claim& b) { return rank(a) > rank(b); });
    const bool unclear = claims.size() > 1 && rank(claims[0]) == rank(claims[1]);
    std::vector<std::size_t> labels;
    for (const Claim& claim : claims) labels.push_back(claim.label);
    if (unclear) {
      pairing_.left.push_back({picture, "it has several labels: " + joined(labels, files_), false});
    } else {
      pairing_.pairs.push_back(
          {picture, claims[0].label,
           claims[0].case_differs ? "its name differs from the picture's in upper and lower case" : ""});
    }
    for (std::size_t i = unclear ? 0 : 1; i < claims.size(); ++i) {
      pairing_.left.push_back(
          {claims[i].label, fmt::format("{} has several labels", files_[picture].path.string()), false});
    }
  }

  using Index = std::map<std::string, std::vector<std::size_t>>;
  static const std::vector<std::size_t>& find(const Index& index, const std::string& key) {
    static const std::vector<std::size_t> none;
    const auto found = index.find(key);
    return found == index.end() ? none : found->second;
  }

  struct Claim {
    std::size_t label;
    int score;
    bool case_differs;
  };

  const std::vector<SurveyedFile>& files_;
  const StatedName& stated_name_;
  Index pictures_, pictures_any_case_;      // by name without ending
  std::vector<std::vector<Claim>> claims_;  // of each picture
  std::vector<std::string> spoken_for_;     // the label that could not decide on this picture
  Pairing pairing_;
};

}  // namespace

std::vector<SurveyedFile> survey(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw base::Error(base::ExitCode::kFailed, "there is no such folder", folder.string(),
                      "give a folder of pictures and labels");
  }
  std::vector<SurveyedFile> files;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    // A link to a folder, to nothing or to itself is a file that nobody can use.
    std::error_code dead_link;
    const fs::file_status status = it->status(dead_link);
    const bool usable = fs::exists(status) && !fs::is_directory(status);
    if (!usable && !it->is_symlink(dead_link)) continue;
    const fs::path relative = it->path().lexically_relative(folder);
    const FileKind kind = usable ? kind_of(relative) : FileKind::kOther;
    files.push_back({relative, kind, split_of(relative)});
  }
  if (error)
    throw base::Error(base::ExitCode::kFailed, "cannot list the folder: " + error.message(), folder.string());
  std::sort(files.begin(), files.end(), [](const SurveyedFile& a, const SurveyedFile& b) {
    return a.path.native() < b.path.native();  // bytes, the same on every machine
  });
  return files;
}

Pairing pair_files(const std::vector<SurveyedFile>& files, const StatedName& stated_name) {
  return Pairer(files, stated_name).pair();
}

}  // namespace maskfit::dataset
