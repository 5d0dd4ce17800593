#include "formats/fddb.h"

#include <cmath>

#include "formats/counted_records.h"
#include "formats/text_lines.h"

namespace maskfit::formats {
namespace {

constexpr std::size_t kLeast = 5, kMost = 6;  // the last, a detection's score, is always 1

}  // namespace

std::array<double, 4> FddbEllipse::tight_box() const {
  const double a = major_radius, b = minor_radius;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double half_width = std::hypot(a * cosine, b * sine);
  const double half_height = std::hypot(a * sine, b * cosine);
  return {center_x - half_width, center_y - half_height, center_x + half_width, center_y + half_height};
}

bool is_fddb_text(std::string_view text) {
  return begins_with_counted_record(text.substr(0, 4096), kLeast, kMost);
}

std::vector<FddbPicture> parse_fddb(std::string_view text, const std::string& file,
                                    base::Findings* findings) {
  std::vector<FddbPicture> pictures;
  for (const CountedRecord& record : parse_counted_records(text, file, kLeast, kMost, findings)) {
    FddbPicture picture{record.path, {}, record.line};
    for (const CountedRecord::Row& row : record.rows) {
      const std::vector<double>& n = row.numbers;
      picture.faces.push_back({n[0], n[1], n[2], n[3], n[4], row.line});
    }
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

std::vector<std::string> parse_fddb_paths(std::string_view text) {
  std::vector<std::string> paths;
  TextLines lines(text);
  for (std::string_view line; lines.next(&line);) {
    const std::string path = base::trim(line);
    if (path.empty()) continue;
    if (path.find('/') == std::string::npos || base::split_words(path).size() != 1) return {};
    paths.push_back(path);
  }
  return paths;
}

}  // namespace maskfit::formats
