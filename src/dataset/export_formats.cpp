#include "dataset/export_formats.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "formats/coco_writer.h"
#include "formats/kitti.h"
#include "formats/pascal_voc_writer.h"
#include "formats/yolo_writer.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSplitNames[] = {"train", "val", "test"};
constexpr const char* kDontCare = "DontCare";

constexpr const char* kLostIgnore = "regions to ignore (they will train as background)";
constexpr const char* kLostIgnoredClass = "class names of regions to ignore (they become DontCare)";
constexpr const char* kLostBlanks = "blanks in class names (written as _)";
constexpr const char* kLostTruncation = "degrees of truncation";
constexpr const char* kLostOcclusion = "degrees of occlusion";
constexpr const char* kLostWorld = "angles and 3D boxes";
constexpr const char* kLostClassOrder = "the order of the classes, or classes without a box";

std::string image_name(const Sample& sample, const std::string& name) {
  return name + sample.image.extension().string();
}

bool has_world(const KittiExtras& extras) {
  KittiExtras rest = extras;
  rest.truncation = 0;
  rest.occlusion = 0;
  return !(rest == KittiExtras());
}

void lose_extras(const Sample& sample, const KittiExtras& extras, LossCounter* losses) {
  if (extras.truncation != 0) losses->add(kLostTruncation, sample);
  if (extras.occlusion != 0) losses->add(kLostOcclusion, sample);
  if (has_world(extras)) losses->add(kLostWorld, sample);
}

// KITTI and VOC folders have no list of classes: a reader finds those that occur and sorts them.
void lose_class_list(const Dataset& dataset, LossCounter* losses) {
  std::set<std::string> used;
  for (const Sample& sample : dataset.samples) {
    for (const LabeledBox& box : sample.boxes) {
      if (!box.ignore) used.insert(box.class_name);
    }
  }
  const std::vector<std::string> found(used.begin(), used.end());
  if (found != dataset.class_names && !dataset.samples.empty())
    losses->add(kLostClassOrder, dataset.samples.front());
}

int class_index(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

class KittiWriter : public LabelFormatWriter {
 public:
  explicit KittiWriter(const Dataset& dataset) : dataset_(dataset) {
    std::map<std::string, std::string> words;  // as written -> class
    for (const std::string& name : dataset.class_names) {
      const std::string word = one_word(name);
      const auto [known, fresh] = words.emplace(word, name);
      const bool reserved = base::to_lower(word) == "dontcare";
      if (fresh && !reserved) continue;
      throw base::Error(base::ExitCode::kRefused,
                        reserved ? fmt::format("'{}' is KITTI's name for regions to ignore", name)
                                 : fmt::format("the classes '{}' and '{}' would both be '{}' in KITTI labels",
                                               known->second, name, word),
                        dataset.root.string(), "rename one when importing: --classes a=b");
    }
  }

  fs::path image_file(const Sample& sample, const std::string& name) const override {
    return fs::path(sample.split) / "images" / image_name(sample, name);
  }

  void write_label(const Sample& sample, const std::string& name, const StagedFolder& folder,
                   LossCounter* losses) const override {
    std::string text;
    for (const LabeledBox& box : sample.boxes) {
      formats::KittiLabel label;
      label.class_name = box.ignore ? kDontCare : box.class_name;
      if (box.ignore && base::to_lower(box.class_name) != "dontcare") losses->add(kLostIgnoredClass, sample);
      if (!box.ignore && one_word(box.class_name) != box.class_name) losses->add(kLostBlanks, sample);
      const KittiExtras& extras = box.kitti;
      label.truncation = extras.truncation;
      label.occlusion = extras.occlusion;
      label.observation_angle = extras.observation_angle;
      label.box_in_image = box.box_in_image;
      label.world_height = extras.world_height;
      label.world_width = extras.world_width;
      label.world_length = extras.world_length;
      label.world_x = extras.world_x;
      label.world_y = extras.world_y;
      label.world_z = extras.world_z;
      label.world_rotation_y = extras.world_rotation_y;
      text += formats::print_kitti(label) + "\n";
    }
    folder.write(fs::path(sample.split) / "labels" / (name + ".txt"), text);
  }

  std::int64_t finish(const std::vector<std::string>&, const StagedFolder&,
                      LossCounter* losses) const override {
    lose_class_list(dataset_, losses);
    return 0;
  }

  bool has_label_per_sample() const override { return true; }

 private:
  // As print_kitti() does.
  static std::string one_word(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isspace(c) != 0; }, '_');
    return name;
  }

  const Dataset& dataset_;
};

class VocWriter : public LabelFormatWriter {
 public:
  explicit VocWriter(const Dataset& dataset) : dataset_(dataset) {}

  fs::path image_file(const Sample& sample, const std::string& name) const override {
    return fs::path(sample.split) / "images" / image_name(sample, name);
  }

  void write_label(const Sample& sample, const std::string& name, const StagedFolder& folder,
                   LossCounter* losses) const override {
    formats::VocAnnotation annotation;
    annotation.filename = image_name(sample, name);
    annotation.width = sample.width;
    annotation.height = sample.height;
    for (const LabeledBox& box : sample.boxes) {
      const KittiExtras& extras = box.kitti;
      annotation.objects.push_back(
          {box.class_name, box.box_in_image, box.ignore, extras.truncation > 0, extras.occlusion > 0, 0});
      if (extras.truncation != 0 && extras.truncation != 1) losses->add(kLostTruncation, sample);
      if (extras.occlusion != 0 && extras.occlusion != 1) losses->add(kLostOcclusion, sample);
      if (has_world(extras)) losses->add(kLostWorld, sample);
    }
    folder.write(fs::path(sample.split) / "annotations" / (name + ".xml"),
                 formats::print_pascal_voc(annotation));
  }

  std::int64_t finish(const std::vector<std::string>&, const StagedFolder&,
                      LossCounter* losses) const override {
    lose_class_list(dataset_, losses);
    return 0;
  }

  bool has_label_per_sample() const override { return true; }

 private:
  const Dataset& dataset_;
};

class YoloWriter : public LabelFormatWriter {
 public:
  explicit YoloWriter(const Dataset& dataset) : dataset_(dataset) {}

  fs::path image_file(const Sample& sample, const std::string& name) const override {
    return fs::path("images") / sample.split / image_name(sample, name);
  }

  void write_label(const Sample& sample, const std::string& name, const StagedFolder& folder,
                   LossCounter* losses) const override {
    std::string text;
    for (const LabeledBox& box : sample.boxes) {
      if (box.ignore) {
        losses->add(kLostIgnore, sample);
        continue;
      }
      lose_extras(sample, box.kitti, losses);
      text += formats::print_yolo_box(class_index(dataset_.class_names, box.class_name), box.box_in_image,
                                      sample.width, sample.height) +
              "\n";
    }
    folder.write(fs::path("labels") / sample.split / (name + ".txt"), text);
  }

  std::int64_t finish(const std::vector<std::string>&, const StagedFolder& folder,
                      LossCounter*) const override {
    std::vector<std::pair<std::string, std::string>> folders;
    const auto counts = count_by_split(dataset_);
    for (const char* split : kSplitNames) {
      if (counts.contains(split)) folders.emplace_back(split, std::string("images/") + split);
    }
    folder.write("data.yaml", formats::print_yolo_data(folders, dataset_.class_names));
    return 1;
  }

  bool has_label_per_sample() const override { return true; }

 private:
  const Dataset& dataset_;
};

class CocoFolderWriter : public LabelFormatWriter {
 public:
  CocoFolderWriter(const Dataset& dataset, bool pictures) : dataset_(dataset), pictures_(pictures) {
    categories_ = dataset.class_names;
    // Regions to ignore may have classes of their own; they come after the others.
    std::set<std::string> more;
    for (const Sample& sample : dataset.samples) {
      for (const LabeledBox& box : sample.boxes) {
        if (class_index(dataset.class_names, box.class_name) == static_cast<int>(dataset.class_names.size()))
          more.insert(box.class_name);
      }
    }
    categories_.insert(categories_.end(), more.begin(), more.end());
  }

  fs::path image_file(const Sample& sample, const std::string& name) const override {
    return fs::path(sample.split) / image_name(sample, name);
  }

  void write_label(const Sample& sample, const std::string&, const StagedFolder&,
                   LossCounter* losses) const override {
    for (const LabeledBox& box : sample.boxes) lose_extras(sample, box.kitti, losses);
  }

  std::int64_t finish(const std::vector<std::string>& names, const StagedFolder& folder,
                      LossCounter*) const override {
    std::int64_t files = 0;
    for (const char* split : kSplitNames) {
      formats::CocoWriter writer(categories_);
      bool any = false;
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Sample& sample = dataset_.samples[i];
        if (sample.split != split) continue;
        any = true;
        // Without pictures beside it, the file says where they are.
        writer.add_image(pictures_ ? image_name(sample, names[i])
                                   : fs::absolute(dataset_.image_path(sample)).lexically_normal().string(),
                         sample.width, sample.height);
        for (const LabeledBox& box : sample.boxes)
          writer.add_box(class_index(categories_, box.class_name), box.box_in_image, box.ignore);
      }
      if (!any) continue;
      folder.write(fmt::format("annotations/instances_{}.json", split), writer.text());
      ++files;
    }
    return files;
  }

  bool has_label_per_sample() const override { return false; }

 private:
  const Dataset& dataset_;
  bool pictures_;
  std::vector<std::string> categories_;
};

}  // namespace

void LossCounter::add(const std::string& what, const Sample& sample, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  ExportLoss& loss = losses_[what];
  loss.what = what;
  if (loss.count == 0 || sample.id < loss.example) loss.example = sample.id;
  loss.count += count;
}

std::vector<ExportLoss> LossCounter::losses() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExportLoss> list;
  for (const auto& [what, loss] : losses_) list.push_back(loss);
  return list;
}

std::unique_ptr<LabelFormatWriter> make_format_writer(const Dataset& dataset, const ExportOptions& options) {
  switch (options.format) {
    case ExportFormat::kKitti:
      return std::make_unique<KittiWriter>(dataset);
    case ExportFormat::kVoc:
      return std::make_unique<VocWriter>(dataset);
    case ExportFormat::kYolo:
      return std::make_unique<YoloWriter>(dataset);
    case ExportFormat::kCoco:
      return std::make_unique<CocoFolderWriter>(dataset, options.pictures != ExportOptions::Pictures::kNone);
  }
  MASKFIT_CHECK(false, "format={}", static_cast<int>(options.format));
}

}  // namespace maskfit::dataset
