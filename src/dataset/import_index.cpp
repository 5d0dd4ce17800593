#include "dataset/import_index.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "dataset/import_rules.h"
#include "formats/coco.h"
#include "formats/csv_boxes.h"
#include "formats/fddb.h"
#include "formats/mafa.h"
#include "formats/widerface.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

// COCO files carry paths of other machines, with '\' on some.
std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

class Reader {
 public:
  Reader(const ImportOptions& options, IndexFile* index) : rules_(options.rules), index_(index) {}

  void add(const formats::CocoImage& image, int number) {
    IndexEntry entry{with_slashes(image.file_name), number, {image.width, image.height}, {}, ""};
    for (const formats::CocoObject& object : image.objects) {
      DrawnBox drawn;
      drawn.labeled.box_in_image = object.box_in_image;
      drawn.labeled.class_name = object.class_name;
      drawn.labeled.ignore = object.crowd;
      drawn.line = object.index;
      if (object.crowd) ++index_->ignored["COCO: marked as a crowd"];
      entry.boxes.push_back(std::move(drawn));
    }
    index_->entries.push_back(std::move(entry));
  }

  void add(const formats::CsvImage& image) {
    IndexEntry entry{with_slashes(image.file_name), image.line, {image.width, image.height}, {}, ""};
    for (const formats::CsvObject& object : image.objects) {
      DrawnBox drawn;
      drawn.labeled.box_in_image = object.box_in_image;
      drawn.labeled.class_name = object.class_name;
      drawn.line = object.line;
      entry.boxes.push_back(std::move(drawn));
    }
    index_->entries.push_back(std::move(entry));
  }

  void add(const formats::MafaPicture& picture, formats::MafaPart part) {
    IndexEntry entry{picture.name, picture.record, {}, {}, ""};
    for (const formats::MafaFace& face : picture.faces)
      add_face(face.box_in_image(), judge(face, part, rules_), face.line, &entry);
    index_->entries.push_back(std::move(entry));
  }

  void add(const formats::WiderPicture& picture) {
    IndexEntry entry{picture.path, picture.line, {}, {}, refused_picture(picture, rules_)};
    for (const formats::WiderFace& face : picture.faces)
      add_face(face.box_in_image(), judge(face, rules_), face.line, &entry);
    index_->entries.push_back(std::move(entry));
  }

  void add(const formats::FddbPicture& picture) {
    IndexEntry entry{picture.path, picture.line, {}, {}, ""};
    for (const formats::FddbEllipse& face : picture.faces) {
      const auto e = face.tight_box();
      add_face({static_cast<float>(e[0]), static_cast<float>(e[1]), static_cast<float>(e[2]),
                static_cast<float>(e[3])},
               {kNoMaskClass, ""}, face.line, &entry);
    }
    index_->entries.push_back(std::move(entry));
  }

 private:
  void add_face(const boxes::Box& box, const FaceVerdict& verdict, int line, IndexEntry* entry) {
    DrawnBox drawn;
    drawn.labeled.box_in_image = box;
    drawn.labeled.class_name = verdict.class_name;
    drawn.labeled.ignore = !verdict.ignored_because.empty();
    drawn.line = line;
    if (drawn.labeled.ignore) ++index_->ignored[verdict.ignored_because];
    entry->boxes.push_back(std::move(drawn));
  }

  const FaceRules& rules_;
  IndexFile* index_;
};

const std::vector<std::size_t>* lookup(const std::map<std::string, std::vector<std::size_t>>& index,
                                       const std::string& name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &found->second;
}

// How many parts at the end the paths have in common.
std::size_t common_end(const fs::path& a, const fs::path& b, bool without_ending) {
  std::vector<std::string> parts_a, parts_b;
  const fs::path whole = without_ending ? a.parent_path() / a.stem() : a;
  for (const fs::path& part : whole) parts_a.push_back(part.string());
  for (const fs::path& part : b) parts_b.push_back(part.string());
  std::size_t n = 0;
  while (n < std::min(parts_a.size(), parts_b.size()) &&
         parts_a[parts_a.size() - 1 - n] == parts_b[parts_b.size() - 1 - n]) {
    ++n;
  }
  return n;
}

// Folders at the beginning that two files share.
std::size_t common_beginning(const fs::path& a, const fs::path& b) {
  const fs::path folder_a = a.parent_path(), folder_b = b.parent_path();
  const auto [end_a, end_b] =
      std::mismatch(folder_a.begin(), folder_a.end(), folder_b.begin(), folder_b.end());
  return static_cast<std::size_t>(std::distance(folder_a.begin(), end_a));
}

}  // namespace

IndexFile read_index(Content content, const std::string& bytes, const std::string& file,
                     const ImportOptions& options, base::Findings* findings) {
  IndexFile index;
  index.format = format_of(content);
  Reader reader(options, &index);
  switch (content) {
    case Content::kCoco: {
      int number = 0;
      for (const formats::CocoImage& image : formats::parse_coco(bytes, file, findings, &index.class_names))
        reader.add(image, ++number);
      break;
    }
    case Content::kCsv:
      for (const auto& image : formats::parse_csv_boxes(bytes, file, findings)) reader.add(image);
      break;
    case Content::kMafa: {
      const formats::MafaFile mafa = formats::parse_mafa(bytes, file, findings);
      for (const formats::MafaPicture& picture : mafa.pictures) reader.add(picture, mafa.part);
      break;
    }
    case Content::kWiderMat:
      for (const auto& picture : formats::parse_wider_mat(bytes, file, findings)) reader.add(picture);
      break;
    case Content::kWiderText:
      for (const auto& picture : formats::parse_wider_text(bytes, file, findings)) reader.add(picture);
      break;
    default:
      for (const auto& picture : formats::parse_fddb(bytes, file, findings)) reader.add(picture);
      break;
  }
  return index;
}

bool is_index(Content content) {
  return content == Content::kCoco || content == Content::kCsv || content == Content::kMafa ||
         content == Content::kWiderMat || content == Content::kWiderText || content == Content::kFddb;
}

LabelFormat format_of(Content content) {
  return content == Content::kCoco   ? LabelFormat::kCoco
         : content == Content::kCsv  ? LabelFormat::kCsv
         : content == Content::kMafa ? LabelFormat::kMafa
         : content == Content::kFddb ? LabelFormat::kFddb
                                     : LabelFormat::kWider;
}

const char* index_format_name(LabelFormat format) {
  return format == LabelFormat::kCoco   ? "COCO"
         : format == LabelFormat::kCsv  ? "CSV"
         : format == LabelFormat::kMafa ? "MAFA"
         : format == LabelFormat::kFddb ? "FDDB"
                                        : "WIDER FACE";
}

std::string picture_hint(LabelFormat format) {
  switch (format) {
    case LabelFormat::kFddb:
      return "the ellipse lists come without pictures: unpack FDDB's originalPics.tar.gz into this folder, "
             "so that "
             "2002/ and 2003/ lie in it";
    case LabelFormat::kMafa:
      return "put MAFA's folders train-images/ and test-images/ into this folder";
    case LabelFormat::kWider:
      return "unpack WIDER_train.zip and WIDER_val.zip into this folder";
    default:
      return "put the pictures into this folder, under the names that the file gives";
  }
}

PictureFinder::PictureFinder(const std::vector<SurveyedFile>& files) : files_(files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].kind != FileKind::kPicture) continue;
    const std::string name = files[i].path.filename().string();
    by_name_[name].push_back(i);
    by_name_any_case_[base::to_lower(name)].push_back(i);
    by_stem_[files[i].path.stem().string()].push_back(i);
  }
}

std::optional<std::size_t> PictureFinder::find(const std::string& written, LabelFormat format,
                                               const fs::path& index_file, std::string* reason) const {
  const fs::path path(written);
  const bool by_stem = format == LabelFormat::kFddb;
  const bool whole = by_stem || format == LabelFormat::kWider;
  const std::vector<std::size_t>* candidates =
      lookup(by_stem ? by_stem_ : by_name_, path.filename().string());
  if (candidates == nullptr && !whole)
    candidates = lookup(by_name_any_case_, base::to_lower(path.filename().string()));
  *reason = fmt::format("{}: there is no such picture", written);
  if (candidates == nullptr) return std::nullopt;
  const auto parts = static_cast<std::size_t>(std::distance(path.begin(), path.end()));
  std::vector<std::size_t> best;
  std::pair<std::size_t, std::size_t> best_rank;
  for (const std::size_t i : *candidates) {
    const std::size_t end = common_end(files_[i].path, path, by_stem);
    if (whole && end < parts) continue;
    const std::pair rank(end, common_beginning(files_[i].path, index_file));
    if (!best.empty() && rank < best_rank) continue;
    if (best.empty() || rank > best_rank) best.clear();
    best_rank = rank;
    best.push_back(i);
  }
  if (best.size() == 1) return best[0];
  if (best.size() > 1) {
    *reason = fmt::format("{} could be {} or {}", written, files_[best[0]].path.string(),
                          files_[best[1]].path.string());
  }
  return std::nullopt;
}

}  // namespace maskfit::dataset
