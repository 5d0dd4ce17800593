#include "dataset/kitti_check.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "image/draw.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr int kLineWidth = 4;

image::Color color_of(const std::string& class_name) {
  const std::string name = base::to_lower(class_name);
  if (name == "mask") return {0, 255, 0};
  if (name == "no-mask") return {255, 0, 0};
  if (name == "dontcare") return {128, 128, 128};
  return {255, 255, 0};
}

}  // namespace

CheckedLabels check_labels(const fs::path& base, const std::string& stem) {
  for (const fs::path& folder : {base / "train", base / "test", base / "val", base}) {
    std::error_code ignored;
    const fs::path label = folder / "labels" / (stem + ".txt");
    CheckedLabels checked;
    checked.picture = folder / "images" / (stem + ".jpg");
    if (!fs::exists(checked.picture, ignored)) continue;
    base::Findings findings;
    checked.labels = formats::parse_kitti(base::read_file(label), label.string(), &findings);
    if (!findings.empty())
      throw base::Error(base::ExitCode::kRefused, base::to_string(findings.front()), label.string());
    checked.drawn = image::read_image(checked.picture);
    for (const formats::KittiLabel& box : checked.labels)
      image::draw_box(checked.drawn, box.box_in_image, color_of(box.class_name), kLineWidth);
    return checked;
  }
  throw base::Error(base::ExitCode::kRefused,
                    fmt::format("no picture '{}.jpg' in images/ of train, test or val", stem), base.string(),
                    "give the name of a picture of an earlier conversion: --label_filename NAME");
}

}  // namespace maskfit::dataset
