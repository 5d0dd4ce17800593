#include "dataset/organise_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "dataset/public_sets.h"

namespace maskfit::dataset {
namespace {

// As published: MAFA's and FDDB's readme files, WIDER FACE's and the Kaggle set's pages.
constexpr std::uint64_t kMafaTrainPictures = 25876, kMafaTestPictures = 4935;
constexpr std::uint64_t kFddbFolds = 10, kFddbPictures = 2845, kFddbFaces = 5171;
constexpr std::uint64_t kWiderTrain = 12880, kWiderVal = 3226, kWiderTest = 16097;
constexpr std::size_t kExamples = 5;

std::string thousands(std::uint64_t n) {
  return n < 1000 ? fmt::format("{}", n) : fmt::format("{},{:03d}", n / 1000, n % 1000);
}

bool holds_word(const std::string& path, std::string_view word) {
  return base::to_lower(path).find(word) != std::string::npos;
}

// Label files with the names that they list, all claimed.
Inventory labels_at(PictureUse& use, FoundKind kind, const std::string& target, Layout& layout,
                    std::set<std::string>* names) {
  Inventory files;
  for (const FoundFile* file : use.of_kind(kind)) {
    use.claim(file);
    layout[target].push_back(file);
    files.found.insert(target);
    names->insert(file->names.begin(), file->names.end());
  }
  return files;
}

}  // namespace

std::vector<const FoundFile*> PictureUse::of_kind(FoundKind kind) const {
  std::vector<const FoundFile*> files;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!used_[i] && found_[i].kind == kind) files.push_back(&found_[i]);
  }
  return files;
}

std::uint64_t PictureUse::unused() const {
  return static_cast<std::uint64_t>(std::count(used_.begin(), used_.end(), false));
}

PartStatus Inventory::status(const std::string& set, const std::string& part, std::uint64_t published) const {
  PartStatus line{set, part, PartState::kMissing, found.size(), published, 0, {}, ""};
  for (const std::string& name : listed) {
    if (found.count(name) > 0) continue;
    if (line.missing_examples.size() < kExamples) line.missing_examples.push_back(name);
    ++line.missing;
  }
  if (line.missing == 0 && published > found.size() && !found.empty())
    line.missing = published - found.size();
  if (!found.empty()) {
    line.state = line.missing > 0 || found.size() < published ? PartState::kPartial : PartState::kPresent;
  }
  return line;
}

void lay_out_mafa(PictureUse& use, Layout& layout, OrganiseReport* report) {
  struct Half {
    const char *prefix, *part, *labels, *folder;
    FoundKind kind;
    std::uint64_t published;
  };
  for (const Half& half : {Half{"train_", "train", "MAFA-Label-Train/LabelTrainAll.mat", "train-images",
                                FoundKind::kMafaTrain, kMafaTrainPictures},
                           Half{"test_", "test", "MAFA-Label-Test/LabelTestAll.mat", "test-images",
                                FoundKind::kMafaTest, kMafaTestPictures}}) {
    Inventory pictures;
    const Inventory labels =
        labels_at(use, half.kind, std::string("mafa/") + half.labels, layout, &pictures.listed);
    for (const FoundFile* file : use.of_kind(FoundKind::kPicture)) {
      const std::string name = mafa_name(file->path);
      if (!name.starts_with(half.prefix)) continue;
      // Without labels the name alone would claim other people's pictures.
      const bool ours = pictures.listed.empty()
                            ? holds_word(file->path, "mafa") || holds_word(file->path, half.folder)
                            : pictures.listed.count(name) > 0;
      if (!ours) continue;
      use.claim(file);
      layout[fmt::format("mafa/{}/images/{}", half.folder, name)].push_back(file);
      pictures.found.insert(name);
    }
    report->parts.push_back(labels.status("mafa", std::string(half.part) + " labels", 1));
    report->parts.push_back(pictures.status("mafa", std::string(half.part) + " pictures", half.published));
  }
}

// 7 in "fddb-fold-07-ellipselist.txt", "fold_7" and "fold7": one or two digits; 0 when there are none.
int fddb_fold(const std::string& lower) {
  const std::size_t word = lower.find("fold");
  if (word == std::string::npos) return 0;
  std::size_t at = word + 4;
  for (const char mark : {'-', '_'}) at += at < lower.size() && lower[at] == mark ? 1 : 0;
  int fold = 0;
  for (std::size_t end = std::min(at + 2, lower.size()); at < end && lower[at] >= '0' && lower[at] <= '9';
       ++at)
    fold = 10 * fold + (lower[at] - '0');
  return fold;
}

void lay_out_fddb(PictureUse& use, Layout& layout, OrganiseReport* report) {
  Inventory folds, pictures;
  std::uint64_t faces = 0;
  for (const FoundKind kind : {FoundKind::kFddbEllipses, FoundKind::kFddbList}) {
    for (const FoundFile* file : use.of_kind(kind)) {
      const std::string name = base::to_lower(name_of(file->path));
      const int fold = fddb_fold(name);
      if (fold < 1 || fold > 10) {
        report->findings.push_back({base::Severity::kRefused, file->path, 0, "",
                                    "an FDDB list whose name says no fold",
                                    "call it FDDB-fold-NN-ellipseList.txt with NN from 01 to 10"});
        continue;
      }
      const bool ellipses = kind == FoundKind::kFddbEllipses;
      const std::string target =
          fmt::format("fddb/FDDB-folds/FDDB-fold-{:02d}{}.txt", fold, ellipses ? "-ellipseList" : "");
      use.claim(file);
      layout[target].push_back(file);
      pictures.listed.insert(file->names.begin(), file->names.end());
      if (ellipses && folds.found.insert(target).second) faces += file->faces;
    }
  }
  for (const FoundFile* file : use.of_kind(FoundKind::kPicture)) {
    const std::string path = fddb_path(file->path);
    if (path.empty()) continue;
    use.claim(file);
    if (!pictures.listed.empty() && pictures.listed.count(path) == 0) {
      ++report->unlisted;
      continue;
    }
    layout["fddb/" + path + ".jpg"].push_back(file);
    pictures.found.insert(path);
  }
  PartStatus lists = folds.status("fddb", "ellipse lists", kFddbFolds);
  if (faces > 0) lists.note = fmt::format("{} faces", thousands(faces));
  if (folds.found.size() == kFddbFolds && faces != kFddbFaces) {
    lists.note += fmt::format(", published are {}", thousands(kFddbFaces));
    lists.state = PartState::kPartial;
  }
  report->parts.push_back(lists);
  report->parts.push_back(pictures.status("fddb", "pictures", kFddbPictures));
}

namespace {

// Which split a label file of WIDER FACE is of: by the number of its pictures, else by its name, else by
// where its pictures lie. "" when nothing tells.
std::string wider_split(const FoundFile& file, const std::map<std::string, std::string>& split_by_folder) {
  if (file.kind == FoundKind::kWiderTestList) return "test";
  if (file.names.size() == kWiderTrain) return "train";
  if (file.names.size() == kWiderVal) return "val";
  const std::string name = base::to_lower(name_of(file.path));
  for (const char* split : {"train", "val"}) {
    if (name.find(split) != std::string::npos) return split;
  }
  std::map<std::string, int> votes;
  for (const std::string& path : file.names) {
    if (const auto at = split_by_folder.find(path); at != split_by_folder.end()) ++votes[at->second];
  }
  std::string best;
  for (const auto& [split, n] : votes) {
    if (best.empty() || n > votes[best]) best = split;
  }
  return best;
}

std::string split_of_folder(const std::string& path) {
  for (const char* split : {"train", "val", "test"}) {
    if (holds_word(path, std::string("wider_") + split + "/")) return split;
  }
  return "";
}

const char* wider_label_name(FoundKind kind, const FoundFile& file) {
  if (kind == FoundKind::kWiderMat) return ".mat";
  if (kind == FoundKind::kWiderText) return "_bbx_gt.txt";
  return file.names.empty() ? ".mat" : "_filelist.txt";
}

}  // namespace

void lay_out_wider(PictureUse& use, Layout& layout, OrganiseReport* report) {
  std::map<std::string, Inventory> labels, pictures;  // by split
  std::map<std::string, std::string> split_by_folder, split_by_labels;
  std::vector<std::pair<const FoundFile*, std::string>> candidates;  // with event/name
  for (const FoundFile* file : use.of_kind(FoundKind::kPicture)) {
    const std::string path = wider_path(file->path);
    if (path.empty()) continue;
    candidates.emplace_back(file, path);
    if (const std::string split = split_of_folder(file->path); !split.empty()) split_by_folder[path] = split;
  }
  for (const FoundKind kind : {FoundKind::kWiderMat, FoundKind::kWiderText, FoundKind::kWiderTestList}) {
    for (const FoundFile* file : use.of_kind(kind)) {
      const std::string split = wider_split(*file, split_by_folder);
      if (split.empty()) {
        report->findings.push_back({base::Severity::kRefused, file->path, 0, "",
                                    "WIDER FACE labels, but of which split is not to be seen",
                                    "call it wider_face_train or wider_face_val, with its ending"});
        continue;
      }
      const std::string target =
          fmt::format("widerface/wider_face_split/wider_face_{}{}", split, wider_label_name(kind, *file));
      use.claim(file);
      layout[target].push_back(file);
      labels[split].found.insert(target);
      for (const std::string& name : file->names) {
        pictures[split].listed.insert(name);
        split_by_labels[name] = split;
      }
    }
  }
  for (const auto& [file, path] : candidates) {
    const auto listed = split_by_labels.find(path);
    const auto lying = split_by_folder.find(path);
    const std::string split = listed != split_by_labels.end()  ? listed->second
                              : lying != split_by_folder.end() ? lying->second
                                                               : "";
    if (split.empty()) continue;  // nothing tells whose it is
    use.claim(file);
    layout[fmt::format("widerface/WIDER_{}/images/{}", split, path)].push_back(file);
    pictures[split].found.insert(path);
  }
  for (const auto& [split, published] :
       {std::pair{"train", kWiderTrain}, {"val", kWiderVal}, {"test", kWiderTest}}) {
    const bool test =
        std::string_view(split) == "test";  // without labels: of no use here, shown when it is there
    if (!test) report->parts.push_back(labels[split].status("widerface", std::string(split) + " labels", 1));
    if (!test || !pictures[split].found.empty()) {
      report->parts.push_back(
          pictures[split].status("widerface", std::string(split) + " pictures", published));
    }
  }
}

std::size_t set_rank(const std::string& set) {
  std::size_t rank = 0;
  for (const PublicSet& known : public_sets()) {
    if (known.name == set) break;
    ++rank;
  }
  return rank;
}

}  // namespace maskfit::dataset
