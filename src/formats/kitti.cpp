#include "formats/kitti.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.h"

namespace maskfit::formats {
namespace {

constexpr std::size_t kFields = 15;
constexpr const char* kFieldNames[] = {"class", "truncation", "occlusion",  "angle", "x1",     "y1",
                                       "x2",    "y2",         "height",     "width", "length", "x",
                                       "y",     "z",          "rotation_y", "score"};

base::Finding refused(const std::string& file, int line, std::string field, std::string what,
                      std::string remedy) {
  return {base::Severity::kRefused, file, line, std::move(field), std::move(what), std::move(remedy)};
}

std::string remedy_for(std::string_view value, std::size_t field) {
  if (value.find(',') != std::string_view::npos) return "write numbers with a decimal point";
  if (field == 1) return "a class name must not have blanks";
  return "write a finite number";
}

// Fields 2 to 16 as numbers. False and one finding when one is not.
bool parse_numbers(const std::vector<std::string>& words, const std::string& file, int line, float* numbers,
                   base::Findings* findings) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (base::parse_float(words[i], &numbers[i]) && std::isfinite(numbers[i])) continue;
    findings->push_back(refused(file, line, kFieldNames[i], fmt::format("'{}' is not a number", words[i]),
                                remedy_for(words[i], i)));
    return false;
  }
  return true;
}

KittiLabel label_from(const std::vector<std::string>& words, const float* number, int line) {
  KittiLabel label;
  label.class_name = words[0];
  label.truncation = number[1];
  label.occlusion = static_cast<int>(std::clamp(number[2], -1e9f, 1e9f));
  label.observation_angle = number[3];
  label.box_in_image = {number[4], number[5], number[6], number[7]};
  label.world_height = number[8];
  label.world_width = number[9];
  label.world_length = number[10];
  label.world_x = number[11];
  label.world_y = number[12];
  label.world_z = number[13];
  label.world_rotation_y = number[14];
  if (words.size() > kFields) label.score = number[15];
  label.line = line;
  return label;
}

std::string one_word(std::string name) {
  for (char& c : name) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) c = '_';
  }
  return name;
}

}  // namespace

std::vector<KittiLabel> parse_kitti(std::string_view text, const std::string& file, base::Findings* findings,
                                    KittiFields fields) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark of some editors
  std::vector<KittiLabel> labels;
  int line = 0;
  for (const std::string& row : base::split(text, '\n')) {
    ++line;
    const auto words = base::split_words(row);
    if (words.empty()) continue;
    const bool has_score = words.size() == kFields + 1;
    if (words.size() != kFields && !(has_score && fields == KittiFields::k15Or16)) {
      findings->push_back(
          refused(file, line, "", fmt::format("{} fields, a KITTI label has 15", words.size()),
                  has_score ? "delete the score" : "see docs/dataset-format.md for the 15 fields"));
      continue;
    }
    float numbers[kFields + 1] = {};
    if (!parse_numbers(words, file, line, numbers, findings)) continue;
    if (has_score) {
      findings->push_back({base::Severity::kWarning, file, line, "score",
                           fmt::format("16 fields; the score {} is not part of a label", words[kFields]),
                           "the score was left out"});
    }
    labels.push_back(label_from(words, numbers, line));
  }
  return labels;
}

std::string print_kitti(const KittiLabel& label) {
  const boxes::Box& box = label.box_in_image;
  std::string line = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", one_word(label.class_name),
                                 label.truncation, label.occlusion, label.observation_angle, box.x1, box.y1,
                                 box.x2, box.y2, label.world_height, label.world_width, label.world_length,
                                 label.world_x, label.world_y, label.world_z, label.world_rotation_y);
  if (label.score) line += fmt::format(" {}", *label.score);
  return line;
}

std::string print_kitti_detection(const std::string& class_name, const std::array<double, 4>& corners,
                                  double confidence) {
  return fmt::format("{} 0.00 0 0.00 {:.3f} {:.3f} {:.3f} {:.3f} 0.00 0.00 0.00 0.00 0.00 0.00 0.00 {:.3f}",
                     one_word(class_name), corners[0], corners[1], corners[2], corners[3], confidence);
}

}  // namespace maskfit::formats
