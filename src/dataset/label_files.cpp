#include "dataset/label_files.h"

#include <fmt/format.h>

#include "base/text.h"
#include "formats/kitti.h"
#include "formats/labelme.h"

namespace maskfit::dataset {
namespace {

// "C:\pictures\a.jpg" -> "a.jpg"
std::string last_part(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string no_picture(const std::string&) {
  return "";
}

std::string voc_picture(const std::string& text) {
  base::Findings ignored;
  const auto annotation = formats::parse_pascal_voc(text, "", &ignored);
  return annotation ? last_part(annotation->filename) : "";
}

std::string labelme_picture(const std::string& text) {
  base::Findings ignored;
  const auto annotation = formats::parse_labelme(text, "", &ignored);
  return annotation ? last_part(annotation->image_path) : "";
}

std::optional<ReadLabel> read_voc(const std::string& text, const std::string& file,
                                  const LabelContext& context, base::Findings* findings) {
  const std::size_t findings_before = findings->size();
  const auto annotation = formats::parse_pascal_voc(text, file, findings, context.options->voc_pixels);
  // Objects of which none can be read are not the same as no objects.
  if (!annotation || (annotation->objects.empty() && findings->size() > findings_before)) return std::nullopt;
  ReadLabel label;
  label.stated_size = {annotation->width, annotation->height};
  for (const formats::VocObject& object : annotation->objects) {
    DrawnBox drawn;
    drawn.labeled.box_in_image = object.box_in_image;
    drawn.labeled.class_name = object.class_name;
    drawn.labeled.ignore = object.difficult && !context.options->difficult_as_object;
    drawn.labeled.kitti.truncation = object.truncated ? 1.0f : 0.0f;
    drawn.labeled.kitti.occlusion = object.occluded ? 1 : 0;
    drawn.line = object.line;
    label.boxes.push_back(std::move(drawn));
  }
  return label;
}

// A file of lines that are all refused is no KITTI label; an empty one is a picture without objects.
std::optional<ReadLabel> read_kitti(const std::string& text, const std::string& file, const LabelContext&,
                                    base::Findings* findings) {
  const std::size_t findings_before = findings->size();
  const auto labels = formats::parse_kitti(text, file, findings);
  if (labels.empty() && findings->size() > findings_before) return std::nullopt;
  ReadLabel read;
  for (const formats::KittiLabel& label : labels) {
    DrawnBox drawn;
    drawn.labeled = {
        label.box_in_image,
        label.class_name,
        false,
        {label.truncation, label.occlusion, label.observation_angle, label.world_height, label.world_width,
         label.world_length, label.world_x, label.world_y, label.world_z, label.world_rotation_y}};
    drawn.line = label.line;
    read.boxes.push_back(std::move(drawn));
  }
  return read;
}

std::optional<ReadLabel> read_yolo(const std::string& text, const std::string& file,
                                   const LabelContext& context, base::Findings* findings) {
  const std::size_t findings_before = findings->size();
  const auto boxes = formats::parse_yolo(text, file, findings);
  if (boxes.empty() && findings->size() > findings_before) return std::nullopt;
  ReadLabel read;
  const double width = context.upright.width, height = context.upright.height;
  for (const formats::YoloBox& box : boxes) {
    DrawnBox drawn;
    drawn.labeled.box_in_image = {static_cast<float>((box.center_x - box.width / 2) * width),
                                  static_cast<float>((box.center_y - box.height / 2) * height),
                                  static_cast<float>((box.center_x + box.width / 2) * width),
                                  static_cast<float>((box.center_y + box.height / 2) * height)};
    drawn.labeled.class_name = std::to_string(box.class_id);
    drawn.line = box.line;
    if (context.names != nullptr) {
      const auto name = context.names->find(box.class_id);
      if (name != context.names->end()) {
        drawn.labeled.class_name = name->second;
      } else {
        findings->push_back(
            {base::Severity::kWarning, file, box.line, "class",
             fmt::format("{} is beyond the {} names of the list", box.class_id, context.names->size()),
             "the class is called by its number"});
      }
    }
    read.boxes.push_back(std::move(drawn));
  }
  return read;
}

std::optional<ReadLabel> read_labelme(const std::string& text, const std::string& file, const LabelContext&,
                                      base::Findings* findings) {
  const std::size_t findings_before = findings->size();
  const auto annotation = formats::parse_labelme(text, file, findings);
  if (!annotation || (annotation->shapes.empty() && findings->size() > findings_before)) return std::nullopt;
  ReadLabel read;
  read.stated_size = {annotation->width, annotation->height};
  for (const formats::LabelmeShape& shape : annotation->shapes) {
    DrawnBox drawn;
    drawn.labeled.box_in_image = shape.box_in_image;
    drawn.labeled.class_name = shape.class_name;
    drawn.line = shape.index;
    read.boxes.push_back(std::move(drawn));
  }
  return read;
}

}  // namespace

const std::vector<LabelReader>& label_readers() {
  static const std::vector<LabelReader> readers = {
      {LabelFormat::kVoc, Content::kVoc, "voc", "Pascal VOC", read_voc, voc_picture},
      {LabelFormat::kLabelme, Content::kLabelme, "labelme", "LabelMe", read_labelme, labelme_picture},
      {LabelFormat::kKitti, Content::kKitti, "kitti", "KITTI", read_kitti, no_picture},
      {LabelFormat::kYolo, Content::kYolo, "yolo", "YOLO", read_yolo, no_picture},
  };
  return readers;
}

}  // namespace maskfit::dataset
