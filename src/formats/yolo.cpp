#include "formats/yolo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/text_lines.h"

namespace maskfit::formats {
namespace {

constexpr double kLargestPart = 2;  // a box may reach over the edge, but no part is near a pixel's number
constexpr int kLargestId = 9999;

bool is_id(double value) {
  return value >= 0 && value <= kLargestId && value == std::floor(value);
}

class Parser {
 public:
  Parser(const std::string& file, base::Findings* findings) : file_(file), findings_(findings) {}

  void read(std::string_view line, int number, std::vector<YoloBox>* boxes) {
    number_ = number;
    const std::vector<double> n = numbers_of(line);
    if (n.empty())
      return refuse("", fmt::format("'{}' is not a row of numbers", line.substr(0, 60)), remedy(line));
    if (n.size() < 5 || (n.size() > 6 && n.size() % 2 == 0)) {
      return refuse("", fmt::format("{} numbers; a box has 5, an outline an odd number from 7", n.size()),
                    "write: class center_x center_y width height");
    }
    if (!is_id(n[0]))
      return refuse("class", fmt::format("{} is no class number", n[0]), "write 0, 1, 2, ...");
    if (std::any_of(n.begin() + 1,
                    n.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(n.size(), 5)),
                    [](double part) { return std::abs(part) > kLargestPart; })) {
      return refuse(
          "", fmt::format("'{}' has numbers that are no parts of a picture's sides", line.substr(0, 60)),
          "they look like pixels; divide by the picture's width and height");
    }
    YoloBox box;
    box.class_id = static_cast<int>(n[0]);
    box.line = number;
    if (n.size() <= 6) {
      box.center_x = n[1];
      box.center_y = n[2];
      box.width = n[3];
      box.height = n[4];
      if (n.size() == 6) {
        findings_->push_back({base::Severity::kWarning, file_, number, "confidence",
                              "the line ends with a confidence: a network wrote it, not a person",
                              "the box was taken; check that these labels are meant to be learnt"});
      }
    } else {
      surround(n, &box);
    }
    boxes->push_back(box);
  }

 private:
  static std::string remedy(std::string_view line) {
    return line.find(',') != std::string_view::npos
               ? "write numbers with a decimal point, separated by blanks"
               : "write: class center_x center_y width height";
  }

  void refuse(const std::string& field, const std::string& what, const std::string& remedy) {
    findings_->push_back({base::Severity::kRefused, file_, number_, field, what, remedy});
  }

  // The box around the points n[1..].
  static void surround(const std::vector<double>& n, YoloBox* box) {
    double x1 = n[1], x2 = n[1], y1 = n[2], y2 = n[2];
    for (std::size_t i = 1; i + 1 < n.size(); i += 2) {
      x1 = std::min(x1, n[i]);
      x2 = std::max(x2, n[i]);
      y1 = std::min(y1, n[i + 1]);
      y2 = std::max(y2, n[i + 1]);
    }
    box->outline = true;
    box->center_x = (x1 + x2) / 2;
    box->center_y = (y1 + y2) / 2;
    box->width = x2 - x1;
    box->height = y2 - y1;
  }

  const std::string& file_;
  base::Findings* findings_;
  int number_ = 0;
};

// "'mask'  # worn" -> "mask"
std::string yaml_scalar(std::string_view text) {
  std::string value = base::trim(text);
  if (!value.empty() && (value.front() == '\'' || value.front() == '"')) {
    const std::size_t end = value.find(value.front(), 1);
    return value.substr(1, end == std::string::npos ? end : end - 1);
  }
  const std::size_t comment = value.find(" #");
  return base::trim(value.substr(0, comment));
}

// Splits at commas outside quotes.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ',') {
      parts.emplace_back();
      continue;
    }
    if (quote == 0 && (c == '\'' || c == '"') && base::trim(parts.back()).empty()) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    parts.back() += c;
  }
  return parts;
}

// "0: face" or "face"; in a flow list the place is the number.
void add_name(std::string_view entry, bool keyed, YoloNames* names) {
  int id = names->empty() ? 0 : names->rbegin()->first + 1;
  const std::size_t colon = entry.find(':');
  if (keyed && colon != std::string_view::npos) {
    long long value = 0;
    if (!base::parse_int(yaml_scalar(entry.substr(0, colon)), &value) || value < 0 || value > kLargestId)
      return;
    id = static_cast<int>(value);
    entry = entry.substr(colon + 1);
  }
  const std::string name = yaml_scalar(entry);
  if (!name.empty()) (*names)[id] = name;
}

}  // namespace

std::vector<YoloBox> parse_yolo(std::string_view text, const std::string& file, base::Findings* findings) {
  std::vector<YoloBox> boxes;
  Parser parser(file, findings);
  TextLines lines(text);
  for (std::string_view line; lines.next(&line);) {
    if (!base::trim(line).empty()) parser.read(line, lines.number(), &boxes);
  }
  return boxes;
}

bool is_yolo_text(std::string_view text) {
  TextLines lines(text);
  for (std::string_view line; lines.next(&line);) {
    if (base::trim(line).empty()) continue;
    const std::vector<double> n = numbers_of(line);
    return n.size() >= 5 && (n.size() <= 6 || n.size() % 2 == 1) && is_id(n[0]) &&
           std::all_of(n.begin() + 1, n.end(), [](double part) { return std::abs(part) <= kLargestPart; });
  }
  return false;
}

YoloNames parse_yolo_yaml(std::string_view text) {
  YoloNames names;
  TextLines lines(text);
  bool inside = false;
  std::string flow;  // "[a, b" until its bracket closes
  for (std::string_view line; lines.next(&line);) {
    const std::string content = base::trim(line);
    if (content.empty() || content.front() == '#') continue;
    const bool top = line.front() != ' ' && line.front() != '\t';
    if (top && content.starts_with("names:")) {
      inside = true;
      flow = base::trim(content.substr(6));
      if (flow.starts_with('#')) flow.clear();
    } else if (!flow.empty()) {
      flow += " " + content;
    } else if (inside && (content.front() == '-' || !top)) {
      const bool item = content.front() == '-';
      add_name(item ? std::string_view(content).substr(1) : content, !item, &names);
    } else {
      inside = false;
    }
    if (flow.empty() || flow.find_first_of("]}") == std::string::npos) continue;
    const std::string list = flow.substr(1, flow.find_first_of("]}") - 1);
    for (const std::string& entry : split_list(list)) add_name(entry, flow.front() == '{', &names);
    return names;
  }
  return names;
}

YoloNames parse_yolo_name_list(std::string_view text) {
  YoloNames names;
  TextLines lines(text);
  int id = 0;
  for (std::string_view line; lines.next(&line);) {
    const std::string name = base::trim(line);
    // A blank line in between counts: the place in the list is the number.
    if (!name.empty()) names[id] = name;
    ++id;
  }
  return names;
}

}  // namespace maskfit::formats
