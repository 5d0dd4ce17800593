#include "formats/pascal_voc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <pugixml.hpp>

#include "base/text.h"

namespace maskfit::formats {
namespace {

// "bndBox", "bnd_box" and "BNDBOX" are one name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

using Spellings = std::initializer_list<std::string_view>;

// The first child element that has one of these (plain) names.
pugi::xml_node child(const pugi::xml_node& node, Spellings names) {
  for (const pugi::xml_node& candidate : node.children()) {
    if (candidate.type() != pugi::node_element) continue;
    if (std::find(names.begin(), names.end(), plain(candidate.name())) != names.end()) return candidate;
  }
  return {};
}

std::string text_of(const pugi::xml_node& node) {
  return base::trim(node.text().get());
}

bool is_set(const pugi::xml_node& node) {
  const std::string text = base::to_lower(text_of(node));
  return text == "1" || text == "true" || text == "yes";
}

int size_of(const pugi::xml_node& node) {
  float value = 0;
  if (!base::parse_float(text_of(node), &value) || !(value > 0 && value < 1e6f)) return 0;
  return value == std::floor(value) ? static_cast<int>(value) : 0;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, base::Findings* findings, VocPixels pixels)
      : text_(text), file_(file), findings_(findings), pixels_(pixels) {}

  std::optional<VocAnnotation> parse() {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size());
    if (!result) {
      refuse(line_at(result.offset), "", fmt::format("not XML: {}", base::to_lower(result.description())),
             "repair or delete the file");
      return std::nullopt;
    }
    const pugi::xml_node root = document.document_element();
    if (plain(root.name()) != "annotation") {
      refuse(1, "", fmt::format("the root element is <{}>, expected <annotation>", root.name()),
             "it is no Pascal VOC label");
      return std::nullopt;
    }
    VocAnnotation annotation;
    annotation.filename = text_of(child(root, {"filename"}));
    annotation.database = text_of(child(child(root, {"source"}), {"database"}));
    const pugi::xml_node size = child(root, {"size", "imagesize"});
    annotation.width = size_of(child(size, {"width"}));
    annotation.height = size_of(child(size, {"height"}));
    if (pixels_ == VocPixels::kAuto) {
      const bool original =
          annotation.database.starts_with("The VOC") || annotation.database.starts_with("PASCAL VOC");
      pixels_ = original ? VocPixels::kOneBasedInclusive : VocPixels::kEdges;
    }
    for (const pugi::xml_node& node : root.children()) {
      if (plain(node.name()) == "object") read_object(node, &annotation);
    }
    return annotation;
  }

 private:
  void refuse(int line, std::string field, std::string what, std::string remedy) {
    findings_->push_back(
        {base::Severity::kRefused, file_, line, std::move(field), std::move(what), std::move(remedy)});
  }

  int line_at(std::ptrdiff_t offset) const {
    const auto end =
        text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    return 1 + static_cast<int>(std::count(text_.begin(), end, '\n'));
  }

  bool read_coordinate(const pugi::xml_node& box, const char* field, Spellings names, float* value) {
    const pugi::xml_node node = child(box, names);
    if (!node) {
      refuse(line_at(box.offset_debug()), field, "the box has no such coordinate",
             "add it, or delete the object");
      return false;
    }
    const std::string text = text_of(node);
    if (base::parse_float(text, value) && std::isfinite(*value)) return true;
    refuse(
        line_at(node.offset_debug()), field, fmt::format("'{}' is not a number", text),
        text.find(',') != std::string::npos ? "write numbers with a decimal point" : "write a finite number");
    return false;
  }

  void read_object(const pugi::xml_node& node, VocAnnotation* annotation) {
    VocObject object;
    object.line = line_at(node.offset_debug());
    object.class_name = text_of(child(node, {"name", "class", "label", "category"}));
    if (object.class_name.empty()) {
      refuse(object.line, "name", "the object has no class", "name its class, or delete the object");
      return;
    }
    const pugi::xml_node box = child(node, {"bndbox", "boundingbox", "bbox", "box"});
    if (!box) {
      refuse(object.line, "bndbox", fmt::format("the object '{}' has no box", object.class_name),
             "draw its box, or delete the object");
      return;
    }
    boxes::Box& b = object.box_in_image;
    if (!read_coordinate(box, "xmin", {"xmin", "x1", "left"}, &b.x1) ||
        !read_coordinate(box, "ymin", {"ymin", "y1", "top"}, &b.y1) ||
        !read_coordinate(box, "xmax", {"xmax", "x2", "right"}, &b.x2) ||
        !read_coordinate(box, "ymax", {"ymax", "y2", "bottom"}, &b.y2)) {
      return;
    }
    if (pixels_ == VocPixels::kOneBasedInclusive) {
      b.x1 -= 1;
      b.y1 -= 1;
    }
    object.difficult = is_set(child(node, {"difficult"}));
    object.truncated = is_set(child(node, {"truncated"}));
    object.occluded = is_set(child(node, {"occluded"}));
    annotation->objects.push_back(std::move(object));
  }

  std::string_view text_;
  const std::string& file_;
  base::Findings* findings_;
  VocPixels pixels_;
};

}  // namespace

std::optional<VocAnnotation> parse_pascal_voc(std::string_view text, const std::string& file,
                                              base::Findings* findings, VocPixels pixels) {
  return Parser(text, file, findings, pixels).parse();
}

}  // namespace maskfit::formats
