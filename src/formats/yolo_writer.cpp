#include "formats/yolo_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace maskfit::formats {
namespace {

// A double-quoted string of YAML is one of JSON.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string print_yolo_box(int class_index, const boxes::Box& box, int width, int height) {
  const double x1 = box.x1, y1 = box.y1, x2 = box.x2, y2 = box.y2;  // a float's sum would round twice
  // Fixed, since some readers of the format know no exponents.
  return fmt::format("{} {:.10f} {:.10f} {:.10f} {:.10f}", class_index, (x1 + x2) / 2 / width,
                     (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height);
}

std::string print_yolo_data(const std::vector<std::pair<std::string, std::string>>& folders,
                            const std::vector<std::string>& class_names) {
  std::string text;
  for (const auto& [split, folder] : folders) text += fmt::format("{}: {}\n", split, folder);
  text += fmt::format("nc: {}\nnames:\n", class_names.size());
  for (std::size_t i = 0; i < class_names.size(); ++i)
    text += fmt::format("  {}: {}\n", i, quoted(class_names[i]));
  return text;
}

}  // namespace maskfit::formats
