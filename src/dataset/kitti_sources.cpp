#include "dataset/kitti_sources.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/pascal_voc.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Where the parts of a set lie; the last folder is that of the pictures.
fs::path kaggle_labels(const fs::path& root) {
  return is_there(root / "labels") || !is_there(root / "annotations") ? root / "labels"
                                                                      : root / "annotations";
}
fs::path mafa_labels(const fs::path& root, KittiPart part) {
  return part == KittiPart::kTrain ? root / "MAFA-Label-Train" / "LabelTrainAll.mat"
                                   : root / "MAFA-Label-Test" / "LabelTestAll.mat";
}
fs::path mafa_pictures(const fs::path& root, KittiPart part) {
  return root / (part == KittiPart::kTrain ? "train-images" : "test-images") / "images";
}
std::string wider_part(KittiPart part) {
  return part == KittiPart::kTrain ? "train" : "val";
}
fs::path wider_labels(const fs::path& root, KittiPart part) {
  const fs::path folder = root / "wider_face_split";
  const fs::path text = folder / fmt::format("wider_face_{}_bbx_gt.txt", wider_part(part));
  fs::path mat = folder / fmt::format("wider_face_{}.mat", wider_part(part));
  return is_there(mat) || !is_there(text) ? mat : text;
}
fs::path wider_pictures(const fs::path& root, KittiPart part) {
  return root / ("WIDER_" + wider_part(part)) / "images";
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return files;
}

bool is_picture(const fs::path& file, KittiRules rules) {
  const std::string ending = file.extension().string();
  const std::string lower = base::to_lower(ending);
  const bool known = lower == ".jpg" || lower == ".jpeg" || lower == ".png";
  if (rules == KittiRules::kReference) return known && ending == lower;
  return known || lower == ".bmp" || lower == ".webp";
}

KittiSource read_kaggle(const fs::path& root, KittiRules rules) {
  KittiSource source;
  const fs::path labels = kaggle_labels(root);
  if (labels.filename() == "annotations") source.note = "labels in annotations/ instead of labels/; ";
  std::map<std::string, std::int64_t> other;
  bool other_names = false;
  for (const fs::path& picture : sorted_files(root / "images")) {
    const auto aside = [&](const std::string& why) {
      source.findings.push_back(
          {Severity::kWarning, picture.string(), 0, "", why, "the file was left aside"});
    };
    if (!is_picture(picture, rules)) {
      aside("its ending is none of a picture");
      continue;
    }
    const fs::path label = labels / (picture.stem().string() + ".xml");
    if (!is_there(label)) {
      aside("it has no label " + label.filename().string());
      continue;
    }
    // Values as they are, as the project takes them: this set's boxes are edges.
    const std::string text = base::read_file(label);
    const auto read =
        formats::parse_pascal_voc(text, label.string(), &source.findings, formats::VocPixels::kEdges);
    if (!read) continue;
    KittiCandidate candidate{picture, "kaggle/" + picture.filename().string(), picture.stem().string(), {}};
    for (const formats::VocObject& object : read->objects) {
      const boxes::Box& b = object.box_in_image;
      const FaceUse use = kaggle_use(object.class_name, rules);
      candidate.faces.push_back({use, {b.x1, b.y1, b.x2, b.y2}});
      if (use == FaceUse::kExcluded) ++other[object.class_name];
      other_names = other_names ||
                    (use != FaceUse::kExcluded && object.class_name != "mask" && object.class_name != "none");
    }
    source.candidates.push_back(std::move(candidate));
  }
  if (other_names) source.note += "class names of a later version of the set; ";
  for (const auto& [name, faces] : other)
    source.note += fmt::format("'{}' gets no label ({}); ", name, faces);
  return source;
}

KittiSource read_mafa(const fs::path& root, KittiPart part, KittiRules rules) {
  KittiSource source;
  const fs::path file = mafa_labels(root, part);
  const formats::MafaFile labels =
      formats::parse_mafa(base::read_file(file), file.string(), &source.findings);
  const bool train = part == KittiPart::kTrain;
  if ((labels.part == formats::MafaPart::kTrain) != train) {
    throw base::Error(base::ExitCode::kRefused,
                      fmt::format("it holds the {} labels", train ? "test" : "train"), file.string(),
                      "the two label files of MAFA have been mixed up");
  }
  for (const formats::MafaPicture& picture : labels.pictures) {
    KittiCandidate candidate{mafa_pictures(root, part) / picture.name,
                             "mafa/" + picture.name,
                             fs::path(picture.name).stem().string(),
                             {}};
    for (const formats::MafaFace& face : picture.faces) {
      const double x = face.face.x, y = face.face.y;
      const FaceUse use = train ? mafa_train_use(face, rules) : mafa_test_use(face, rules);
      candidate.faces.push_back({use, {x, y, x + face.face.width, y + face.face.height}});
    }
    source.candidates.push_back(std::move(candidate));
  }
  return source;
}

KittiSource read_fddb(const fs::path& root, KittiRules rules) {
  KittiSource source;
  for (const fs::path& file : sorted_files(root / "FDDB-folds")) {
    if (!file.string().ends_with("ellipseList.txt")) continue;
    for (const formats::FddbPicture& picture :
         formats::parse_fddb(base::read_file(file), file.string(), &source.findings)) {
      KittiCandidate candidate{root / (picture.path + ".jpg"),
                               "fddb/" + picture.path + ".jpg",
                               fs::path(picture.path).filename().string(),
                               {}};
      for (const formats::FddbEllipse& face : picture.faces) {
        candidate.faces.push_back({FaceUse::kNoMask, rules == KittiRules::kReference
                                                         ? fddb_reference_box(face)
                                                         : face.tight_box()});
      }
      source.candidates.push_back(std::move(candidate));
    }
  }
  return source;
}

KittiSource read_wider(const fs::path& root, KittiPart part, KittiRules rules) {
  KittiSource source;
  const fs::path file = wider_labels(root, part);
  const std::string bytes = base::read_file(file);
  const auto pictures = file.extension() == ".mat"
                            ? formats::parse_wider_mat(bytes, file.string(), &source.findings)
                            : formats::parse_wider_text(bytes, file.string(), &source.findings);
  for (const formats::WiderPicture& picture : pictures) {
    if (!wider_event_is_used(picture.event)) continue;
    KittiCandidate candidate{wider_pictures(root, part) / picture.path,
                             "wider/" + picture.path,
                             fs::path(picture.path).stem().string(),
                             {}};
    for (const formats::WiderFace& face : picture.faces) {
      candidate.faces.push_back(
          {wider_use(face, rules), {face.x, face.y, face.x + face.width, face.y + face.height}});
    }
    source.candidates.push_back(std::move(candidate));
  }
  return source;
}

}  // namespace

std::string to_string(KittiSet set) {
  switch (set) {
    case KittiSet::kKaggle:
      return "Kaggle Dataset";
    case KittiSet::kMafa:
      return "MAFA Dataset";
    case KittiSet::kFddb:
      return "FDDB Dataset";
    case KittiSet::kWider:
      return "WideFace";
  }
  return "";
}

std::vector<fs::path> missing_parts(KittiSet set, KittiPart part, const fs::path& root) {
  std::vector<fs::path> wanted;
  switch (set) {
    case KittiSet::kKaggle:
      wanted = {root / "images", kaggle_labels(root)};
      break;
    case KittiSet::kMafa:
      wanted = {mafa_labels(root, part), mafa_pictures(root, part)};
      break;
    case KittiSet::kFddb:
      wanted = {root / "FDDB-folds"};
      break;
    case KittiSet::kWider:
      wanted = {wider_labels(root, part), wider_pictures(root, part)};
      break;
  }
  std::erase_if(wanted, is_there);
  return wanted;
}

KittiSource read_kitti_source(KittiSet set, KittiPart part, const fs::path& root, KittiRules rules) {
  try {
    switch (set) {
      case KittiSet::kKaggle:
        return read_kaggle(root, rules);
      case KittiSet::kMafa:
        return read_mafa(root, part, rules);
      case KittiSet::kFddb:
        return read_fddb(root, rules);
      case KittiSet::kWider:
        return read_wider(root, part, rules);
    }
  } catch (const fs::filesystem_error& error) {
    throw base::Error(base::ExitCode::kFailed, error.code().message(), error.path1().string());
  }
  return {};
}

}  // namespace maskfit::dataset
