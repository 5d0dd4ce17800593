#include "formats/labelme.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "formats/json_text.h"

namespace maskfit::formats {
namespace {

using nlohmann::json;

bool points_of(const json& shape, std::vector<std::pair<float, float>>* points) {
  const auto found = shape.find("points");
  if (found == shape.end() || !found->is_array()) return false;
  for (const json& point : *found) {
    float x = 0, y = 0;
    if (!point.is_array() || point.size() < 2 || !finite_number(point[0], &x) || !finite_number(point[1], &y))
      return false;
    points->emplace_back(x, y);
  }
  return true;
}

// The reason why there is no box, or "".
std::string box_of(const json& shape, boxes::Box* box) {
  std::string type = text_member(shape, "shape_type");
  if (type.empty()) type = "polygon";  // what the first versions drew
  std::vector<std::pair<float, float>> points;
  if (!points_of(shape, &points)) return "its points are not pairs of finite numbers";
  if (type == "circle") {
    if (points.size() != 2) return fmt::format("a circle of {} points", points.size());
    const auto [x, y] = points[0];
    const float radius = std::hypot(points[1].first - x, points[1].second - y);
    *box = {x - radius, y - radius, x + radius, y + radius};
    return "";
  }
  if (type != "rectangle" && type != "polygon" && type != "mask") return fmt::format("a {} is no box", type);
  if (points.size() < (type == "polygon" ? 3u : 2u))
    return fmt::format("a {} of {} points", type, points.size());
  *box = {points[0].first, points[0].second, points[0].first, points[0].second};
  for (const auto& [x, y] : points) {
    *box = {std::min(box->x1, x), std::min(box->y1, y), std::max(box->x2, x), std::max(box->y2, y)};
  }
  return "";
}

}  // namespace

bool is_labelme_text(std::string_view text) {
  return text.find("\"shapes\"") != std::string_view::npos;
}

std::optional<LabelmeAnnotation> parse_labelme(std::string_view text, const std::string& file,
                                               base::Findings* findings) {
  const auto refuse = [&](int place, const std::string& what, const std::string& remedy) {
    findings->push_back({base::Severity::kRefused, file, place, place == 0 ? "" : "shapes", what, remedy});
  };
  json root;
  try {
    root = parse_json(text, file);
  } catch (const base::Error& error) {
    refuse(0, fmt::format("{} ({})", error.what(), error.where()), error.hint());
    return std::nullopt;
  }
  if (!root.is_object() || !root.contains("shapes") || !root["shapes"].is_array()) {
    refuse(0, "there is no list \"shapes\"", "it is no LabelMe annotation");
    return std::nullopt;
  }
  LabelmeAnnotation annotation;
  annotation.image_path = text_member(root, "imagePath");
  annotation.width = whole_member(root, "imageWidth");
  annotation.height = whole_member(root, "imageHeight");
  int place = 0;
  for (const json& shape : root["shapes"]) {
    LabelmeShape read{text_member(shape, "label"), {}, ++place};
    const std::string trouble =
        read.class_name.empty() ? "it has no label" : box_of(shape, &read.box_in_image);
    if (trouble.empty()) {
      annotation.shapes.push_back(std::move(read));
    } else {
      refuse(place, trouble, "the shape was left out; draw it as a rectangle");
    }
  }
  return annotation;
}

}  // namespace maskfit::formats
