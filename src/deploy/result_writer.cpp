#include "deploy/result_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "image/draw.h"

namespace maskfit::deploy {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// Pictures are written as what their name says where we can, else as PNG.
std::string writable_name(const std::string& name) {
  const fs::path path(name);
  const std::string ending = base::to_lower(path.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" ? name : path.stem().string() + ".png";
}

std::string label_name(const std::string& name) {
  return fs::path(name).stem().string() + ".txt";
}

std::string json_line(const PictureFile& file, const image::Image& picture,
                      const boxes::Detections& detections, const std::vector<std::string>& class_names) {
  Json list = Json::array();
  for (const boxes::Detection& d : detections) {
    list.push_back({{"class", class_names[d.class_index]},
                    {"confidence", d.confidence},
                    {"box", {d.box.x1, d.box.y1, d.box.x2, d.box.y2}}});
  }
  const Json line = {{"image", file.path.string()},
                     {"width", picture.width},
                     {"height", picture.height},
                     {"detections", std::move(list)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);  // file names need not be UTF-8
}

}  // namespace

std::size_t longest_result_name(const PictureFile& file) {
  return std::max(writable_name(file.output_name).size(), label_name(file.output_name).size());
}

std::string kitti_text(const boxes::Detections& detections, const std::vector<std::string>& class_names) {
  std::string text;
  for (const boxes::Detection& d : detections) {
    text +=
        fmt::format("{} 0.00 0 0.00 {:.3f} {:.3f} {:.3f} {:.3f} 0.00 0.00 0.00 0.00 0.00 0.00 0.00 {:.3f}\n",
                    class_names[d.class_index], d.box.x1, d.box.y1, d.box.x2, d.box.y2, d.confidence);
  }
  return text;
}

image::Image annotate(const image::Image& picture, const boxes::Detections& detections,
                      const std::vector<std::string>& class_names, int line_width) {
  image::Image copy = picture;
  const int font_scale = std::max(1, std::min(picture.width, picture.height) / 500);
  // The most confident last, on top.
  for (auto d = detections.rbegin(); d != detections.rend(); ++d) {
    const image::Color color = image::class_color(d->class_index);
    image::draw_box(copy, d->box, color, line_width * font_scale);
    image::draw_caption(copy, static_cast<int>(d->box.x1), static_cast<int>(d->box.y1),
                        fmt::format("{}: {:.2f}", class_names[d->class_index], d->confidence),
                        {255, 255, 255}, color, font_scale);
  }
  return copy;
}

ResultWriter::ResultWriter(fs::path folder, std::vector<std::string> class_names, ResultWriterOptions options)
    : folder_(std::move(folder)), class_names_(std::move(class_names)), options_(options) {}

void ResultWriter::add(const PictureFile& file, const image::Image& picture,
                       const boxes::Detections& detections) {
  if (options_.annotated) {
    image::write_image(folder_ / "images_annotated" / writable_name(file.output_name),
                       annotate(picture, detections, class_names_, options_.line_width));
  }
  if (options_.kitti) {
    base::write_file(folder_ / "labels" / label_name(file.output_name), kitti_text(detections, class_names_));
  }
  if (options_.json) json_lines_.push_back(json_line(file, picture, detections, class_names_));
}

void ResultWriter::finish() const {
  if (!options_.json) return;
  std::string text = "[";
  for (std::size_t i = 0; i < json_lines_.size(); ++i) text += (i == 0 ? "\n" : ",\n") + json_lines_[i];
  base::write_file(folder_ / "detections.json", text + "\n]\n");
}

}  // namespace maskfit::deploy
