#include "dataset/organise_recognise.h"

#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "formats/fddb.h"
#include "formats/mafa.h"
#include "formats/mat5.h"
#include "formats/pascal_voc.h"
#include "formats/widerface.h"

namespace maskfit::dataset {
namespace {

constexpr std::uint64_t kMaxMatBytes = 512u << 20u, kMaxTextBytes = 64u << 20u, kMaxXmlBytes = 4u << 20u;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() && base::to_lower(path.substr(path.size() - ending.size())) == ending;
}

bool is_picture(std::string_view first) {
  return first.starts_with("\xff\xd8\xff") || first.starts_with("\x89PNG\r\n\x1a\n") ||
         first.starts_with("GIF8") || first.starts_with("BM") ||
         (first.starts_with("RIFF") && first.substr(8, 4) == "WEBP");
}

// The last `count` parts of a path, or fewer.
std::vector<std::string> tail(std::string_view path, std::size_t count) {
  std::vector<std::string> parts = base::split(path, '/');
  if (parts.size() > count) parts.erase(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(count));
  return parts;
}

void read_mat(FoundFile& file, const std::string& bytes, base::Findings* findings) {
  const std::vector<formats::MatArray> variables = formats::read_mat5(bytes, file.path);
  const bool train = formats::find_variable(variables, "label_train") != nullptr;
  if (train || formats::find_variable(variables, "LabelTest") != nullptr) {
    file.kind = train ? FoundKind::kMafaTrain : FoundKind::kMafaTest;
    for (const formats::MafaPicture& picture : formats::parse_mafa(bytes, file.path, findings).pictures) {
      file.names.push_back(picture.name);
      file.faces += picture.faces.size();
    }
  } else if (formats::find_variable(variables, "face_bbx_list") != nullptr) {
    file.kind = FoundKind::kWiderMat;
    for (const formats::WiderPicture& picture : formats::parse_wider_mat(bytes, file.path, findings)) {
      file.names.push_back(picture.path);
      file.faces += picture.faces.size();
    }
  } else if (formats::find_variable(variables, "event_list") != nullptr &&
             formats::find_variable(variables, "file_list") != nullptr) {
    file.kind = FoundKind::kWiderTestList;
  }
}

// wider_face_test_filelist.txt: a path a line.
bool is_wider_list(const std::string& text, std::vector<std::string>* names) {
  for (const std::string& line : base::split(text, '\n')) {
    const std::string path = base::trim(line);
    if (path.empty()) continue;
    if (wider_path("/" + path) != path) return false;
    names->push_back(path);
  }
  return !names->empty();
}

void read_text(FoundFile& file, const std::string& text, base::Findings* findings) {
  if (formats::is_fddb_text(text)) {
    file.kind = FoundKind::kFddbEllipses;
    for (const formats::FddbPicture& picture : formats::parse_fddb(text, file.path, findings)) {
      file.names.push_back(picture.path);
      file.faces += picture.faces.size();
    }
  } else if (formats::is_wider_text(text)) {
    file.kind = FoundKind::kWiderText;
    for (const formats::WiderPicture& picture : formats::parse_wider_text(text, file.path, findings)) {
      file.names.push_back(picture.path);
      file.faces += picture.faces.size();
    }
  } else if (is_wider_list(text, &file.names)) {
    file.kind = FoundKind::kWiderTestList;
  } else if (const auto paths = formats::parse_fddb_paths(text);
             !paths.empty() && fddb_path("/" + paths.front() + ".jpg") == paths.front()) {
    file.kind = FoundKind::kFddbList;
    file.names = paths;
  }
}

void read_voc(FoundFile& file, const std::string& text) {
  base::Findings ignored;  // the import reports them; here only the class names matter
  const auto annotation = formats::parse_pascal_voc(text, file.path, &ignored);
  if (!annotation) return;
  file.kind = FoundKind::kVocLabel;
  file.stated_picture = annotation->filename;
  for (const formats::VocObject& object : annotation->objects) file.classes.insert(object.class_name);
  file.faces = annotation->objects.size();
}

}  // namespace

void recognise(FoundFile& file, std::string_view first, const std::function<std::string()>& whole,
               base::Findings* findings) {
  if (is_picture(first)) {
    file.kind = FoundKind::kPicture;
    return;
  }
  try {
    if (first.starts_with("MATLAB 5.0") && file.size <= kMaxMatBytes) {
      read_mat(file, whole(), findings);
    } else if (ends_in(file.path, ".xml") && file.size <= kMaxXmlBytes) {
      read_voc(file, whole());
    } else if (ends_in(file.path, ".txt") && file.size <= kMaxTextBytes &&
               first.find('\0') == std::string_view::npos) {
      read_text(file, whole(), findings);
    }
  } catch (const base::Error& error) {
    if (error.code() != base::ExitCode::kRefused) throw;
    findings->push_back({base::Severity::kRefused, file.path, 0, "", error.what(), error.hint()});
  }
}

std::string name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string stem_of(std::string_view path) {
  const std::string name = name_of(path);
  const auto dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

int kaggle_number(std::string_view stem) {
  constexpr std::string_view kPrefix = "maksssksksss";
  if (!stem.starts_with(kPrefix) || !all_digits(stem.substr(kPrefix.size())) ||
      stem.size() > kPrefix.size() + 6) {
    return -1;
  }
  return std::stoi(std::string(stem.substr(kPrefix.size())));
}

std::string fddb_path(std::string_view path) {
  const std::vector<std::string> p = tail(path, 5);
  if (p.size() != 5 || p[0].size() != 4 || p[1].size() != 2 || p[2].size() != 2 || p[3] != "big") return "";
  const std::string stem = stem_of(p[4]);
  if (!all_digits(p[0]) || !all_digits(p[1]) || !all_digits(p[2]) || !stem.starts_with("img_") ||
      !all_digits(stem.substr(4)) || !ends_in(p[4], ".jpg")) {
    return "";
  }
  return p[0] + "/" + p[1] + "/" + p[2] + "/big/" + stem;
}

std::string wider_path(std::string_view path) {
  const std::vector<std::string> p = tail(path, 2);
  if (p.size() != 2 || !ends_in(p[1], ".jpg")) return "";
  const auto dashes = p[0].find("--");
  // "0--Parade" holds "0_Parade_...".
  if (dashes == std::string::npos || !all_digits(p[0].substr(0, dashes)) ||
      !p[1].starts_with(p[0].substr(0, dashes) + "_")) {
    return "";
  }
  return p[0] + "/" + p[1];
}

std::string mafa_name(std::string_view path) {
  const std::string name = base::to_lower(name_of(path));
  for (const char* prefix : {"train_", "test_"}) {
    const std::size_t n = std::string_view(prefix).size();
    if (name.starts_with(prefix) && name.size() == n + 12 && all_digits(name.substr(n, 8)) &&
        name.ends_with(".jpg")) {
      return name;
    }
  }
  return "";
}

}  // namespace maskfit::dataset
