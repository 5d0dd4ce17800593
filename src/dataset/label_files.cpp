#include "dataset/label_files.h"

#include "formats/kitti.h"

namespace maskfit::dataset {
namespace {

std::optional<ReadLabel> read_voc(const std::string& text, const std::string& file,
                                  const ImportOptions& options, base::Findings* findings) {
  const std::size_t findings_before = findings->size();
  const auto annotation = formats::parse_pascal_voc(text, file, findings, options.voc_pixels);
  // Objects of which none can be read are not the same as no objects.
  if (!annotation || (annotation->objects.empty() && findings->size() > findings_before)) return std::nullopt;
  ReadLabel label;
  label.stated_size = {annotation->width, annotation->height};
  for (const formats::VocObject& object : annotation->objects) {
    DrawnBox drawn;
    drawn.labeled.box_in_image = object.box_in_image;
    drawn.labeled.class_name = object.class_name;
    drawn.labeled.ignore = object.difficult && !options.difficult_as_object;
    drawn.labeled.kitti.truncation = object.truncated ? 1.0f : 0.0f;
    drawn.labeled.kitti.occlusion = object.occluded ? 1 : 0;
    drawn.line = object.line;
    label.boxes.push_back(std::move(drawn));
  }
  return label;
}

// A file of lines that are all refused is no KITTI label; an empty one is a picture without objects.
std::optional<ReadLabel> read_kitti(const std::string& text, const std::string& file, const ImportOptions&,
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

}  // namespace

const std::vector<LabelReader>& label_readers() {
  static const std::vector<LabelReader> readers = {
      {LabelFormat::kVoc, "voc", "Pascal VOC", ".xml", read_voc},
      {LabelFormat::kKitti, "kitti", "KITTI", ".txt", read_kitti},
  };
  return readers;
}

}  // namespace maskfit::dataset
