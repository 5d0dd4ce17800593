#include "formats/coco_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace maskfit::formats {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

CocoWriter::CocoWriter(const std::vector<std::string>& categories) {
  for (std::size_t i = 0; i < categories.size(); ++i) {
    categories_ += fmt::format("{}\n  {{\"id\": {}, \"name\": {}, \"supercategory\": \"\"}}",
                               i == 0 ? "" : ",", i + 1, quoted(categories[i]));
  }
}

void CocoWriter::add_image(const std::string& file_name, int width, int height) {
  images_ += fmt::format("{}\n  {{\"id\": {}, \"file_name\": {}, \"width\": {}, \"height\": {}}}",
                         num_images_ == 0 ? "" : ",", num_images_ + 1, quoted(file_name), width, height);
  ++num_images_;
}

void CocoWriter::add_box(int category, const boxes::Box& box, bool ignore) {
  // In double: x1 + width gives back x2 to the last bit of a float.
  const double width = static_cast<double>(box.x2) - box.x1, height = static_cast<double>(box.y2) - box.y1;
  annotations_ += fmt::format(
      "{}\n  {{\"id\": {}, \"image_id\": {}, \"category_id\": {}, \"bbox\": [{}, {}, {}, {}], \"area\": {}, "
      "\"iscrowd\": {}, \"segmentation\": []}}",
      num_annotations_ == 0 ? "" : ",", num_annotations_ + 1, num_images_, category + 1, box.x1, box.y1,
      width, height, width * height, ignore ? 1 : 0);
  ++num_annotations_;
}

std::string CocoWriter::text() const {
  return fmt::format(
      "{{\n\"info\": {{\"description\": \"written by maskfit\"}},\n\"images\": [{}\n],\n\"annotations\": "
      "[{}\n],\n\"categories\": [{}\n]\n}}\n",
      images_, annotations_, categories_);
}

}  // namespace maskfit::formats
