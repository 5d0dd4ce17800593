#include "formats/widerface.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "formats/counted_records.h"
#include "formats/mat5.h"

namespace maskfit::formats {
namespace {

constexpr std::size_t kFewest = 10, kMost = 10;

// An attribute's number as an int; what no int holds is no attribute.
int whole(double value) {
  return std::abs(value) < 1e6 ? static_cast<int>(value) : -1;
}

std::string event_of(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// A per-face list of the file and where its numbers go.
struct AttributeList {
  const char* variable;
  int WiderFace::*member;
};
constexpr AttributeList kAttributes[] = {{"blur_label_list", &WiderFace::blur},
                                         {"expression_label_list", &WiderFace::expression},
                                         {"illumination_label_list", &WiderFace::illumination},
                                         {"invalid_label_list", &WiderFace::invalid},
                                         {"occlusion_label_list", &WiderFace::occlusion},
                                         {"pose_label_list", &WiderFace::pose}};

class MatReader {
 public:
  MatReader(const std::vector<MatArray>& variables, const std::string& file, base::Findings* findings)
      : variables_(variables),
        file_(file),
        findings_(findings),
        events_(needed("event_list")),
        files_(needed("file_list")),
        boxes_(needed("face_bbx_list")) {}

  std::vector<WiderPicture> read() {
    std::vector<WiderPicture> pictures;
    for (std::size_t e = 0; e < events_.parts.size(); ++e) {
      if (events_.parts[e].kind != MatKind::kText || e >= files_.parts.size()) {
        refuse(fmt::format("event_list({})", e + 1), "the event has no name or no files");
        continue;
      }
      for (std::size_t p = 0; p < files_.parts[e].parts.size(); ++p) {
        ++number_;
        read_picture(e, p, &pictures);
      }
    }
    return pictures;
  }

 private:
  const MatArray& needed(const char* name) const {
    const MatArray* found = find_variable(variables_, name);
    if (found == nullptr || found->kind != MatKind::kCells) {
      throw base::Error(base::ExitCode::kRefused, fmt::format("there is no list '{}' in it", name), file_,
                        "give WIDER FACE's wider_face_train.mat or wider_face_val.mat");
    }
    return *found;
  }

  void refuse(const std::string& field, const std::string& what) {
    findings_->push_back({base::Severity::kRefused, file_, number_, field, what,
                          "the line is the picture's number; it was left out"});
  }

  // The numbers of a picture in a list, or null.
  static const MatArray* part(const MatArray& list, std::size_t e, std::size_t p) {
    if (e >= list.parts.size() || p >= list.parts[e].parts.size()) return nullptr;
    const MatArray& found = list.parts[e].parts[p];
    return found.kind == MatKind::kNumbers ? &found : nullptr;
  }

  void read_picture(std::size_t e, std::size_t p, std::vector<WiderPicture>* pictures) {
    const std::string& event = events_.parts[e].text;
    const MatArray& name = files_.parts[e].parts[p];
    if (name.kind != MatKind::kText || name.text.empty())
      return refuse("file_list", "the picture has no name");
    WiderPicture picture{event, event + "/" + name.text + ".jpg", {}, number_};
    const MatArray* rects = part(boxes_, e, p);
    if (rects == nullptr || (rects->elements() > 0 && rects->columns() != 4))
      return refuse("face_bbx_list", fmt::format("{} has no boxes of four numbers", picture.path));
    const std::size_t faces = rects->elements() == 0 ? 0 : rects->rows();
    for (std::size_t i = 0; i < faces; ++i) {
      WiderFace face;
      face.x = rects->at(i, 0);
      face.y = rects->at(i, 1);
      face.width = rects->at(i, 2);
      face.height = rects->at(i, 3);
      face.line = static_cast<int>(i) + 1;
      if (!(std::abs(face.x) + std::abs(face.y) + std::abs(face.width) + std::abs(face.height) < 1e7))
        return refuse("face_bbx_list", fmt::format("a box of {} is not of finite numbers", picture.path));
      picture.faces.push_back(face);
    }
    for (const auto& [variable, member] : kAttributes) {
      const MatArray* list = find_variable(variables_, variable);
      const MatArray* values = list == nullptr ? nullptr : part(*list, e, p);
      if (values == nullptr) continue;
      if (values->numbers.size() != faces) {
        return refuse(variable, fmt::format("{} numbers for the {} faces of {}", values->numbers.size(),
                                            faces, picture.path));
      }
      for (std::size_t i = 0; i < faces; ++i) picture.faces[i].*member = whole(values->numbers[i]);
    }
    pictures->push_back(std::move(picture));
  }

  const std::vector<MatArray>& variables_;
  const std::string& file_;
  base::Findings* findings_;
  const MatArray& events_;
  const MatArray& files_;
  const MatArray& boxes_;
  int number_ = 0;
};

}  // namespace

boxes::Box WiderFace::box_in_image() const {
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + width),
          static_cast<float>(y + height)};
}

bool is_wider_text(std::string_view text) {
  return begins_with_counted_record(text.substr(0, 4096), kFewest, kMost);
}

std::vector<WiderPicture> parse_wider_text(std::string_view text, const std::string& file,
                                           base::Findings* findings) {
  std::vector<WiderPicture> pictures;
  for (const CountedRecord& record : parse_counted_records(text, file, kFewest, kMost, findings)) {
    WiderPicture picture{event_of(record.path), record.path, {}, record.line};
    for (const CountedRecord::Row& row : record.rows) {
      const std::vector<double>& n = row.numbers;
      picture.faces.push_back({n[0], n[1], n[2], n[3], whole(n[4]), whole(n[5]), whole(n[6]), whole(n[7]),
                               whole(n[8]), whole(n[9]), row.line});
    }
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

std::vector<WiderPicture> parse_wider_mat(std::string_view bytes, const std::string& file,
                                          base::Findings* findings) {
  return MatReader(read_mat5(bytes, file), file, findings).read();
}

}  // namespace maskfit::formats
