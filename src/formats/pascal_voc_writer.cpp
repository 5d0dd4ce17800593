#include "formats/pascal_voc_writer.h"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

namespace maskfit::formats {
namespace {

void add(pugi::xml_node parent, const char* name, const std::string& text) {
  parent.append_child(name).text().set(text.c_str());
}

void add(pugi::xml_node parent, const char* name, bool flag) {
  add(parent, name, std::string(flag ? "1" : "0"));
}

}  // namespace

std::string print_pascal_voc(const VocAnnotation& annotation) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("annotation");
  add(root, "filename", annotation.filename);
  pugi::xml_node size = root.append_child("size");
  add(size, "width", fmt::format("{}", annotation.width));
  add(size, "height", fmt::format("{}", annotation.height));
  add(size, "depth", std::string("3"));
  add(root, "segmented", false);
  for (const VocObject& object : annotation.objects) {
    pugi::xml_node node = root.append_child("object");
    add(node, "name", object.class_name);
    add(node, "pose", std::string("Unspecified"));
    add(node, "truncated", object.truncated);
    add(node, "occluded", object.occluded);
    add(node, "difficult", object.difficult);
    pugi::xml_node box = node.append_child("bndbox");
    const boxes::Box& b = object.box_in_image;
    const std::pair<const char*, float> sides[] = {
        {"xmin", b.x1}, {"ymin", b.y1}, {"xmax", b.x2}, {"ymax", b.y2}};
    for (const auto& [name, value] : sides) add(box, name, fmt::format("{}", value));
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration, pugi::encoding_utf8);
  return text.str();
}

}  // namespace maskfit::formats
