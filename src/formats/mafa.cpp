#include "formats/mafa.h"

#include <cmath>

#include "base/error.h"
#include "formats/mat5.h"

namespace maskfit::formats {
namespace {

constexpr std::size_t kTrainColumns = 21, kTestColumns = 18;
constexpr double kLargest = 1e6;  // pixels; no picture is larger

std::size_t columns_of(MafaPart part) {
  return part == MafaPart::kTrain ? kTrainColumns : kTestColumns;
}

MafaRect rect_at(const std::vector<double>& row, std::size_t at) {
  const auto whole = [&](std::size_t i) { return static_cast<int>(row[at + i]); };
  return {whole(0), whole(1), whole(2), whole(3)};
}

// The variable of the part that the file is, or of another name with the same fields.
const MatArray& label_variable(const std::vector<MatArray>& variables, const std::string& file,
                               MafaPart* part) {
  const MatArray* found = find_variable(variables, "label_train");
  *part = MafaPart::kTrain;
  if (found == nullptr) {
    found = find_variable(variables, "LabelTest");
    *part = MafaPart::kTest;
  }
  if (found != nullptr && found->kind == MatKind::kStruct) return *found;
  std::string names;
  for (const MatArray& variable : variables) names += (names.empty() ? "" : ", ") + variable.name;
  throw base::Error(base::ExitCode::kRefused,
                    fmt::format("neither label_train nor LabelTest is in it; it holds {}",
                                names.empty() ? "nothing" : names),
                    file, "give MAFA's LabelTrainAll.mat or LabelTestAll.mat");
}

class Reader {
 public:
  Reader(const MatArray& labels, MafaPart part, const std::string& file, base::Findings* findings)
      : labels_(labels), part_(part), file_(file), findings_(findings) {}

  void read(std::size_t record, std::vector<MafaPicture>* pictures) {
    record_ = static_cast<int>(record) + 1;
    const bool train = part_ == MafaPart::kTrain;
    const MatArray* name = labels_.field(record, train ? "imgName" : "name");
    const MatArray* label = labels_.field(record, "label");
    if (name == nullptr || name->kind != MatKind::kText || name->text.empty()) {
      return refuse("name", "the record names no picture");
    }
    if (label == nullptr || label->kind != MatKind::kNumbers)
      return refuse("label", "the record has no faces");
    MafaPicture picture;
    picture.record = record_;
    picture.name = name->text;
    const MatArray* original = train ? labels_.field(record, "orgImgName") : nullptr;
    if (original != nullptr) picture.original_name = original->text;
    if (label->elements() > 0 && label->columns() != columns_of(part_)) {
      return refuse("label",
                    fmt::format("{} columns a face, expected {}", label->columns(), columns_of(part_)));
    }
    const std::size_t faces = label->elements() == 0 ? 0 : label->rows();
    for (std::size_t row = 0; row < faces; ++row) read_face(*label, row, &picture);
    pictures->push_back(std::move(picture));
  }

 private:
  void refuse(const std::string& field, const std::string& what) {
    findings_->push_back({base::Severity::kRefused, file_, record_, field, what,
                          "the line is the record's number; the record was left out"});
  }

  void read_face(const MatArray& label, std::size_t row, MafaPicture* picture) {
    std::vector<double> numbers;
    for (std::size_t column = 0; column < label.columns(); ++column) {
      const double value = label.at(row, column);
      if (!(std::abs(value) <= kLargest)) {
        return refuse(fmt::format("label({},{})", row + 1, column + 1),
                      fmt::format("{} is no number of a face of {}", value, picture->name));
      }
      numbers.push_back(value);
    }
    picture->faces.push_back(mafa_face(part_, numbers));
    picture->faces.back().line = static_cast<int>(row) + 1;
  }

  const MatArray& labels_;
  MafaPart part_;
  const std::string& file_;
  base::Findings* findings_;
  int record_ = 0;
};

}  // namespace

boxes::Box MafaFace::box_in_image() const {
  return {static_cast<float>(face.x), static_cast<float>(face.y), static_cast<float>(face.x + face.width),
          static_cast<float>(face.y + face.height)};
}

MafaFace mafa_face(MafaPart part, const std::vector<double>& row) {
  MASKFIT_CHECK(row.size() == columns_of(part), "{} numbers", row.size());
  const auto whole = [&](std::size_t i) { return static_cast<int>(row[i]); };
  MafaFace face;
  face.face = rect_at(row, 0);
  std::size_t at = 4;
  if (part == MafaPart::kTrain) {
    face.left_eye_x = whole(4);
    face.left_eye_y = whole(5);
    face.right_eye_x = whole(6);
    face.right_eye_y = whole(7);
    at = 8;
  } else {
    const int type = whole(4);
    face.type = type >= 1 && type <= 3 ? static_cast<MafaFaceType>(type) : MafaFaceType::kInvalid;
    at = 5;
  }
  face.occluder = rect_at(row, at);
  face.occluder_type = whole(at + 4);
  face.occlusion_degree = whole(at + 5);
  face.gender = whole(at + 6);
  face.race = whole(at + 7);
  face.orientation = whole(at + 8);
  face.glasses = rect_at(row, at + 9);
  return face;
}

MafaFile parse_mafa(std::string_view bytes, const std::string& file, base::Findings* findings) {
  const std::vector<MatArray> variables = read_mat5(bytes, file);
  MafaFile read;
  const MatArray& labels = label_variable(variables, file, &read.part);
  Reader reader(labels, read.part, file, findings);
  for (std::size_t i = 0; i < labels.elements(); ++i) reader.read(i, &read.pictures);
  return read;
}

}  // namespace maskfit::formats
