#include "dataset/tfrecord_spec.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/text.h"
#include "formats/coco.h"
#include "formats/kitti.h"
#include "image/image.h"

namespace maskfit::dataset {
namespace fs = std::filesystem;
namespace {

using base::Severity;
using Folds = TfrecordExportOptions::Folds;

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint = "") {
  throw base::Error(base::ExitCode::kRefused, what, where, hint);
}

// "jpg" and ".JPG" are ".jpg".
std::string normal_ending(const std::string& stated) {
  const std::string lower = base::to_lower(stated.empty() ? ".png" : stated);
  return lower.front() == '.' ? lower : "." + lower;
}

// The size as the file states it: the reference does not know EXIF.
bool read_size(Sample* sample, std::string* error) {
  try {
    image::ReadInfo info;
    image::read_image_size(sample->image, &info);
    sample->width = info.stored_size.width;
    sample->height = info.stored_size.height;
    return true;
  } catch (const base::Error& e) {
    *error = e.what();
    return false;
  }
}

LabeledBox box_of(const formats::KittiLabel& l) {
  return {l.box_in_image,
          l.class_name,
          base::to_lower(l.class_name) == "dontcare",
          {l.truncation, l.occlusion, l.observation_angle, l.world_height, l.world_width, l.world_length,
           l.world_x, l.world_y, l.world_z, l.world_rotation_y}};
}

class SpecConverter {
 public:
  SpecConverter(const spec::DatasetExportConfig& config, const TfrecordSpecOptions& options)
      : config_(config), options_(options) {
    export_.prefix = options.prefix;
    export_.overwrite = options.overwrite;
    export_.seed = options.seed;
    export_.validation_fold = options.validation_fold;
    read_modifier();
  }

  TfrecordSpecResult run() {
    if (config_.has_kitti_config()) {
      read_kitti(config_.kitti_config());
    } else if (config_.has_coco_config()) {
      read_coco(config_.coco_config());
    } else {
      refuse("neither a kitti_config nor a coco_config", options_.prefix, "give one of the two");
    }
    note_outside();
    TfrecordSpecResult result;
    result.written = export_tfrecords(dataset_, export_);
    result.written.findings.insert(result.written.findings.begin(), findings_.begin(), findings_.end());
    dataset_.class_names.clear();
    normalise(dataset_);
    result.dataset = std::move(dataset_);
    return result;
  }

 private:
  void read_modifier() {
    if (!config_.has_sample_modifier_config()) return;
    const auto& m = config_.sample_modifier_config();
    SampleModifier modifier;
    modifier.filter_only = {m.filter_samples_containing_only().begin(),
                            m.filter_samples_containing_only().end()};
    modifier.dominant = {m.dominant_target_classes().begin(), m.dominant_target_classes().end()};
    modifier.min_imbalance = {m.minimum_target_class_imbalance().begin(),
                              m.minimum_target_class_imbalance().end()};
    modifier.num_duplicates = static_cast<int>(m.num_duplicates());
    modifier.max_training_samples = m.max_training_samples();
    modifier.target_of = {m.source_to_target_class_mapping().begin(),
                          m.source_to_target_class_mapping().end()};
    export_.modifier = std::move(modifier);
  }

  fs::path root(const std::string& stated) {
    const fs::path path = fs::absolute(resolve_data_path(stated, options_.base)).lexically_normal();
    std::error_code ignored;
    if (!fs::is_directory(path, ignored))
      refuse(
          "root_directory_path is no folder", path.string(),
          "mend the path; relative ones start at the spec's folder, or at $DATA_BASE_PATH where it is set");
    dataset_.root = path;
    export_.image_directory = path;
    return path;
  }

  void read_kitti(const spec::KittiExportConfig& kitti) {
    const fs::path folder = root(kitti.root_directory_path());
    const fs::path images = folder / kitti.image_dir_name(), labels = folder / kitti.label_dir_name();
    const std::string ending = normal_ending(kitti.image_extension());
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(images, error)) {
      if (!entry.is_regular_file() || base::to_lower(entry.path().extension().string()) != ending) continue;
      Sample sample;
      sample.id =
          (fs::path(kitti.image_dir_name()) / entry.path().stem()).lexically_normal().generic_string();
      sample.image = entry.path();
      dataset_.samples.push_back(std::move(sample));
    }
    if (error) refuse(error.message(), images.string(), "mend image_dir_name");
    if (dataset_.samples.empty())
      refuse(fmt::format("no picture ends in {}", ending), images.string(), "mend image_extension");
    normalise(dataset_);
    read_labels(labels);
    part_kitti(kitti, folder);
  }

  void read_labels(const fs::path& folder) {
    std::vector<base::Findings> findings(dataset_.samples.size());
    std::vector<char> good(dataset_.samples.size(), 1);
    base::parallel_for(static_cast<std::int64_t>(dataset_.samples.size()), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      Sample& sample = dataset_.samples[at];
      const fs::path file = folder / (sample.image.stem().string() + ".txt");
      std::string why;
      std::error_code ignored;
      if (!fs::exists(file, ignored)) {
        findings[at].push_back({Severity::kRefused, file.string(), 0, "", "there is no such label file",
                                "write one (an empty file for no object)"});
        good[at] = 0;
      } else if (!read_size(&sample, &why)) {
        findings[at].push_back({Severity::kRefused, sample.image.string(), 0, "", why, ""});
        good[at] = 0;
      } else {
        for (const formats::KittiLabel& label :
             formats::parse_kitti(base::read_file(file), file.string(), &findings[at]))
          sample.boxes.push_back(box_of(label));
      }
    });
    std::vector<Sample> kept;
    for (std::size_t i = 0; i < good.size(); ++i) {
      findings_.insert(findings_.end(), findings[i].begin(), findings[i].end());
      if (good[i] != 0) kept.push_back(std::move(dataset_.samples[i]));
    }
    dataset_.samples = std::move(kept);
    check_labels();
  }

  void check_labels() const {
    const auto bad = std::count_if(findings_.begin(), findings_.end(),
                                   [](const base::Finding& f) { return f.severity == Severity::kRefused; });
    if (bad == 0 || options_.skip_bad_labels) return;
    const auto first = std::find_if(findings_.begin(), findings_.end(),
                                    [](const base::Finding& f) { return f.severity == Severity::kRefused; });
    refuse(fmt::format("{} faults in the labels; the first: {}", bad, base::to_string(*first)), first->file,
           "mend them, or --skip-bad leaves such lines and pictures out");
  }

  void part_kitti(const spec::KittiExportConfig& kitti, const fs::path& folder) {
    export_.num_shards = static_cast<int>(kitti.num_shards());
    export_.num_folds = static_cast<int>(kitti.num_partitions());
    if (kitti.partition_mode() == "sequence") {
      export_.folds = Folds::kSequences;
      export_.sequences_file = folder / kitti.kitti_sequence_to_frames_file();
      return;
    }
    if (kitti.partition_mode() != "random")
      refuse(fmt::format("unknown partition_mode '{}'", kitti.partition_mode()), options_.prefix,
             "random or sequence");
    if (kitti.num_partitions() != 2)
      refuse(fmt::format("{} partitions with partition_mode random", kitti.num_partitions()), options_.prefix,
             "random needs num_partitions: 2");
    if (!export_.validation_fold) export_.validation_fold = 0;
    if (options_.reference_order) {
      export_.folds = Folds::kReferenceRandom;
      export_.val_percent = kitti.val_split();
      return;
    }
    // What the mode's name says: drawn once, then cut where the reference cuts.
    const auto n = static_cast<std::int64_t>(dataset_.samples.size());
    const double share = std::clamp(static_cast<double>(kitti.val_split()), 0.0, 100.0) / 100;
    const auto num_val = static_cast<std::int64_t>(share * static_cast<double>(n));
    base::Rng rng(options_.seed, base::Purpose::kSplit);
    const auto order = rng.permutation(n);
    for (std::int64_t i = 0; i < n; ++i)
      dataset_.samples[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])].split =
          i < num_val ? "val" : "train";
    export_.folds = Folds::kSplits;
  }

  void read_coco(const spec::CocoExportConfig& coco) {
    const fs::path folder = root(coco.root_directory_path());
    const int folds = static_cast<int>(coco.num_partitions());
    if (coco.img_dir_names_size() != folds || coco.annotation_files_size() != folds)
      refuse(fmt::format("{} img_dir_names and {} annotation_files for {} partitions",
                         coco.img_dir_names_size(), coco.annotation_files_size(), folds),
             options_.prefix, "give one of each a partition");
    if (coco.num_shards_size() > 1 && coco.num_shards_size() != folds)
      refuse(fmt::format("{} num_shards for {} partitions", coco.num_shards_size(), folds), options_.prefix,
             "give one number, or one a partition");
    for (int i = 0; i < folds; ++i) {
      export_.fold_shards.push_back(coco.num_shards_size() == 0 ? 0
                                                                : static_cast<int>(coco.num_shards(
                                                                      coco.num_shards_size() == 1 ? 0 : i)));
      export_.given_folds.push_back(read_coco_fold(folder / coco.annotation_files(i), coco.img_dir_names(i)));
    }
    export_.folds = Folds::kGiven;
    export_.num_folds = folds;
    normalise(dataset_);
  }

  // Adds the file's pictures to the dataset; returns their frame ids in the file's order.
  Fold read_coco_fold(const fs::path& file, const std::string& images) {
    const auto pictures = formats::parse_coco(base::read_file(file), file.string(), &findings_);
    check_labels();
    if (pictures.empty()) refuse("the file lists no picture", file.string());
    Fold fold;
    std::size_t objects = 0, crowds = 0;
    for (const formats::CocoImage& picture : pictures) {
      Sample sample;
      sample.image = dataset_.root / images / picture.file_name;
      sample.id =
          (fs::path(images) / picture.file_name).replace_extension().lexically_normal().generic_string();
      sample.width = picture.width;
      sample.height = picture.height;
      std::string why;
      if ((sample.width <= 0 || sample.height <= 0) && !read_size(&sample, &why))
        refuse("the file does not state its size, and " + why, sample.image.string());
      for (const formats::CocoObject& object : picture.objects) {
        std::string name = object.class_name;
        std::erase(name, ' ');
        sample.boxes.push_back({object.box_in_image, name, object.crowd, {}});
        crowds += object.crowd ? 1 : 0;
      }
      objects += picture.objects.size();
      fold.push_back(sample.id);
      dataset_.samples.push_back(std::move(sample));
    }
    if (objects == 0) refuse("the file holds no annotation", file.string());
    if (crowds > 0)
      findings_.push_back({Severity::kWarning, file.string(), 0, "iscrowd", fmt::format("{} crowds", crowds),
                           "written as dontcare; the reference takes each for one object"});
    return fold;
  }

  void note_outside() {
    std::int64_t outside = 0;
    std::string first;
    for (const Sample& sample : dataset_.samples) {
      for (const LabeledBox& box : sample.boxes) {
        const boxes::Box cut = boxes::clip(box.box_in_image, static_cast<float>(sample.width),
                                           static_cast<float>(sample.height));
        if (cut == box.box_in_image) continue;
        if (outside++ == 0) first = sample.image.string();
      }
    }
    if (outside == 0) return;
    findings_.push_back({Severity::kWarning, first, 0, "box",
                         fmt::format("{} boxes reach over the edge of their picture", outside),
                         "written as they are; maskfit train cuts them"});
  }

  const spec::DatasetExportConfig& config_;
  const TfrecordSpecOptions& options_;
  TfrecordExportOptions export_;
  Dataset dataset_;
  base::Findings findings_;
};

}  // namespace

TfrecordSpecResult export_tfrecords(const spec::DatasetExportConfig& config,
                                    const TfrecordSpecOptions& options) {
  return SpecConverter(config, options).run();
}

}  // namespace maskfit::dataset
