#include "formats/csv_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "formats/text_lines.h"

namespace maskfit::formats {
namespace {

enum Column { kFile, kWidth, kHeight, kClass, kX1, kY1, kX2, kY2, kColumns };

struct ColumnName {
  const char* name;
  Column column;
};
constexpr ColumnName kNames[] = {{"filename", kFile}, {"file_name", kFile},   {"file", kFile},
                                 {"image", kFile},    {"image_name", kFile},  {"image_path", kFile},
                                 {"path", kFile},     {"width", kWidth},      {"height", kHeight},
                                 {"class", kClass},   {"class_name", kClass}, {"label", kClass},
                                 {"xmin", kX1},       {"x_min", kX1},         {"x1", kX1},
                                 {"ymin", kY1},       {"y_min", kY1},         {"y1", kY1},
                                 {"xmax", kX2},       {"x_max", kX2},         {"x2", kX2},
                                 {"ymax", kY2},       {"y_max", kY2},         {"y2", kY2}};

constexpr std::size_t kMaxFields = 1000;  // of a line; no such file has as many

// Place of each column among the fields; -1 for one that is not there.
using Columns = std::array<int, kColumns>;

// The fields of a line; commas inside double quotes part nothing, and two quotes in there are one.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool twice = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (twice) {
        fields.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      if (fields.size() == kMaxFields) return {};
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = base::trim(field);
  return fields;
}

std::optional<Columns> columns_of(std::string_view line) {
  Columns columns;
  columns.fill(-1);
  const std::vector<std::string> fields = fields_of(line);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string name = base::to_lower(fields[i]);
    for (const ColumnName& known : kNames) {
      int& place = columns[known.column];
      if (name == known.name && place < 0) place = static_cast<int>(i);
    }
  }
  for (const Column needed : {kFile, kClass, kX1, kY1, kX2, kY2}) {
    if (columns[needed] < 0) return std::nullopt;
  }
  return columns;
}

bool first_line(TextLines* lines, std::string_view* line) {
  while (lines->next(line)) {
    if (!base::trim(*line).empty()) return true;
  }
  return false;
}

class Reader {
 public:
  Reader(Columns columns, const std::string& file, base::Findings* findings)
      : columns_(columns), file_(file), findings_(findings) {}

  void read(std::string_view text, int line) {
    fields_ = fields_of(text);
    const std::string name = field(kFile);
    if (name.empty())
      return refuse(line, "filename", "the line names no picture", "write the picture's file name");
    const auto [place, is_new] = place_of_.emplace(name, images_.size());
    if (is_new) images_.push_back({name, side(kWidth), side(kHeight), line, {}});
    CsvObject object{field(kClass), {}, line};
    float edges[4];
    bool numbers = true, empty = object.class_name.empty();
    for (int i = 0; i < 4; ++i) {
      const std::string edge = field(static_cast<Column>(kX1 + i));
      empty = empty && edge.empty();
      numbers = numbers && base::parse_float(edge, &edges[i]) && std::isfinite(edges[i]);
    }
    if (empty) return;
    if (!numbers)
      return refuse(line, "box",
                    fmt::format("'{}' has no four numbers for the edges of a box", text.substr(0, 80)),
                    "write xmin, ymin, xmax and ymax in pixels, with a decimal point");
    if (object.class_name.empty()) return refuse(line, "class", "the box has no class", "name it");
    object.box_in_image = {edges[0], edges[1], edges[2], edges[3]};
    images_[place->second].objects.push_back(std::move(object));
  }

  std::vector<CsvImage> take() { return std::move(images_); }

 private:
  std::string field(Column column) const {
    const int place = columns_[column];
    return place >= 0 && static_cast<std::size_t>(place) < fields_.size()
               ? fields_[static_cast<std::size_t>(place)]
               : "";
  }

  // 0 when it is not stated, or no size of a picture.
  int side(Column column) const {
    float value = 0;
    return base::parse_float(field(column), &value) && value >= 1 && value <= 1e6f ? static_cast<int>(value)
                                                                                   : 0;
  }

  void refuse(int line, const char* what_field, const std::string& what, const std::string& remedy) {
    findings_->push_back({base::Severity::kRefused, file_, line, what_field, what, remedy});
  }

  Columns columns_;
  const std::string& file_;
  base::Findings* findings_;
  std::vector<std::string> fields_;
  std::map<std::string, std::size_t> place_of_;
  std::vector<CsvImage> images_;
};

}  // namespace

bool is_csv_boxes_text(std::string_view text) {
  TextLines lines(text);
  std::string_view line;
  return first_line(&lines, &line) && columns_of(line).has_value();
}

std::vector<CsvImage> parse_csv_boxes(std::string_view text, const std::string& file,
                                      base::Findings* findings) {
  TextLines lines(text);
  std::string_view line;
  const auto columns = first_line(&lines, &line) ? columns_of(line) : std::nullopt;
  if (!columns) {
    throw base::Error(base::ExitCode::kRefused, "the first line does not name the columns", file,
                      "begin with filename,width,height,class,xmin,ymin,xmax,ymax");
  }
  Reader reader(*columns, file, findings);
  while (lines.next(&line)) {
    if (!base::trim(line).empty()) reader.read(line, lines.number());
  }
  return reader.take();
}

}  // namespace maskfit::formats
