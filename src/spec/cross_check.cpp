#include "spec/cross_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"

namespace maskfit::spec {
namespace {

using base::Severity;
using Names = std::vector<std::string>;

class Collector {
 public:
  explicit Collector(const Source& source) : source_(source) {}
  void refuse(const std::string& path, std::string what, std::string remedy) {
    findings_.push_back(source_.finding(Severity::kRefused, path, std::move(what), std::move(remedy)));
  }
  void warn(const std::string& path, std::string what, std::string remedy) {
    findings_.push_back(source_.finding(Severity::kWarning, path, std::move(what), std::move(remedy)));
  }
  bool in_file(const std::string& path) const { return source_.has(path); }
  base::Findings take() { return std::move(findings_); }

 private:
  const Source& source_;
  base::Findings findings_;
};

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string did_you_mean(const std::string& name, const Names& known) {
  const std::string near = base::nearest_name(name, known);
  return near.empty() ? fmt::format("the classes are {}", fmt::join(known, ", "))
                      : fmt::format("did you mean {}?", near);
}

// Every class needs an entry (or "default", where the section knows it); an entry for no class is a likely
// typo.
template <typename Map>
void check_class_map(const Map& map, const std::string& path, const Names& classes, bool knows_default,
                     Collector* out) {
  const bool has_default = knows_default && map.count("default") > 0;
  for (const std::string& name : classes) {
    if (map.count(name) == 0 && !has_default && !map.empty()) {
      out->refuse(path, fmt::format("no entry for class {}", name),
                  fmt::format("add {} {{ key: \"{}\" value ... }}", path.substr(path.rfind('.') + 1), name));
    }
  }
  std::set<std::string> keys;  // a protobuf map has no order
  for (const auto& [key, value] : map) keys.insert(key);
  for (const std::string& key : keys) {
    if (contains(classes, key) || (knows_default && key == "default") || classes.empty()) continue;
    out->warn(entry_path(path, key), fmt::format("{} is not a class of this spec", key),
              did_you_mean(key, classes));
  }
}

void check_target_classes(const CostFunctionConfig& cost, Collector* out) {
  std::set<std::string> seen;
  for (int i = 0; i < cost.target_classes_size(); ++i) {
    const auto& target = cost.target_classes(i);
    const std::string path = item_path("cost_function_config.target_classes", i);
    if (!seen.insert(target.name()).second) {
      out->refuse(path + ".name", fmt::format("class {} is listed twice", target.name()), "keep one of them");
    }
    int cov = 0, bbox = 0;
    double initial = 0, wanted = 0;
    for (const auto& objective : target.objectives()) {
      cov += objective.name() == "cov";
      bbox += objective.name() == "bbox";
      initial += objective.initial_weight();
      wanted += objective.weight_target();
    }
    if (target.objectives_size() == 0) continue;  // reported as missing
    if (cov != 1 || bbox != 1) {
      out->refuse(path + ".objectives", "needs exactly one entry for cov and one for bbox",
                  fmt::format("found {} and {}", cov, bbox));
    }
    if (initial <= 0)
      out->refuse(path + ".objectives", "all initial_weight are 0", "make their sum positive");
    if (wanted <= 0) out->refuse(path + ".objectives", "all weight_target are 0", "make their sum positive");
  }
}

void check_cost(const CostFunctionConfig& cost, Collector* out) {
  check_target_classes(cost, out);
  const std::string path = "cost_function_config";
  if (cost.enable_autoweighting() && cost.max_objective_weight() <= 0) {
    out->refuse(path + ".max_objective_weight", "with auto-weighting 0 would switch every loss off",
                "set it, for example to 0.9999");
  }
  if (cost.enable_autoweighting() && cost.min_objective_weight() > cost.max_objective_weight()) {
    out->refuse(path + ".min_objective_weight", "is larger than max_objective_weight", "swap them");
  }
  if (cost.has_box_loss() && cost.box_loss().l1() + cost.box_loss().giou() + cost.box_loss().ciou() <= 0) {
    out->refuse(path + ".box_loss", "all parts are 0: boxes would not be learnt", "set l1, giou or ciou");
  }
}

void check_augmentation(const AugmentationConfig& config, Collector* out) {
  const auto& pre = config.preprocessing();
  const std::string path = "augmentation_config.preprocessing";
  const bool cropped =
      pre.crop_left() != 0 || pre.crop_top() != 0 || pre.crop_right() != 0 || pre.crop_bottom() != 0;
  if (pre.crop_left() > pre.crop_right()) {
    out->refuse(path + ".crop_left",
                fmt::format("{} is right of crop_right = {}", pre.crop_left(), pre.crop_right()),
                "swap them");
  } else if (pre.crop_top() > pre.crop_bottom()) {
    out->refuse(path + ".crop_top",
                fmt::format("{} is below crop_bottom = {}", pre.crop_top(), pre.crop_bottom()), "swap them");
  } else if (cropped && (pre.crop_right() - pre.crop_left() != pre.output_image_width() ||
                         pre.crop_bottom() - pre.crop_top() != pre.output_image_height())) {
    out->refuse(
        path + ".crop_left",
        fmt::format("the crop is {}x{} px, the network's input {}x{}", pre.crop_right() - pre.crop_left(),
                    pre.crop_bottom() - pre.crop_top(), pre.output_image_width(), pre.output_image_height()),
        "make them equal, or leave all four crop fields out");
  }
  const auto& spatial = config.spatial_augmentation();
  const float zoom_min = spatial.has_zoom_min() ? spatial.zoom_min() : 1;
  const float zoom_max = spatial.has_zoom_max() ? spatial.zoom_max() : 1;
  if (zoom_min > zoom_max) {
    out->refuse("augmentation_config.spatial_augmentation.zoom_min",
                fmt::format("{} is larger than zoom_max = {}", zoom_min, zoom_max), "swap them, or set both");
  }
}

void check_early_stopping(const EarlyStoppingAnnealingSchedule& schedule, const std::string& path,
                          const Experiment& spec, Collector* out) {
  const auto period = spec.evaluation_config().validation_period_during_training();
  if (schedule.patience_steps() < std::max(1u, period)) {
    out->refuse(path + ".patience_steps",
                fmt::format("{} epochs is shorter than the validation period of {}",
                            schedule.patience_steps(), period),
                "raise it, or validate more often (evaluation_config.validation_period_during_training)");
  }
  if (schedule.patience_steps() > spec.training_config().num_epochs()) {
    out->refuse(path + ".patience_steps",
                fmt::format("{} is longer than the run of {} epochs", schedule.patience_steps(),
                            spec.training_config().num_epochs()),
                "lower it, or raise training_config.num_epochs");
  }
}

void check_training(const Experiment& spec, Collector* out) {
  const auto& training = spec.training_config();
  const std::string rate = "training_config.learning_rate.";
  if (training.learning_rate().has_soft_start_annealing_schedule()) {
    const auto& schedule = training.learning_rate().soft_start_annealing_schedule();
    if (schedule.soft_start() > schedule.annealing()) {
      out->refuse(rate + "soft_start_annealing_schedule.soft_start",
                  fmt::format("the rise ends at {}, behind the start of the fall at {}",
                              schedule.soft_start(), schedule.annealing()),
                  "make soft_start the smaller one");
    }
  }
  if (training.learning_rate().has_early_stopping_annealing_schedule()) {
    check_early_stopping(training.learning_rate().early_stopping_annealing_schedule(),
                         rate + "early_stopping_annealing_schedule", spec, out);
  }
  const bool half =
      spec.model_config().training_precision().backend_floatx() == ModelConfig::TrainingPrecision::FLOAT16;
  if (half && training.precision() == TrainingConfig::BF16) {
    out->refuse("training_config.precision", "BF16 contradicts model_config.training_precision FLOAT16",
                "leave model_config.training_precision out");
  }
  const auto first = spec.evaluation_config().first_validation_epoch();
  const std::string first_path = "evaluation_config.first_validation_epoch";
  if (training.num_epochs() > 0 && first > training.num_epochs() && out->in_file(first_path)) {
    out->warn(first_path, fmt::format("{} lies behind the last epoch, {}", first, training.num_epochs()),
              "only the last epoch is validated");
  }
}

void check_model(const ModelConfig& model, Collector* out) {
  if (!model.pretrained_model_file().empty()) return;
  const std::string remedy = "set model_config.pretrained_model_file";
  if (model.freeze_blocks_size() > 0) {
    out->refuse("model_config.freeze_blocks", "random weights must not be frozen", remedy);
  }
  if (model.load_graph()) out->refuse("model_config.load_graph", "there is no file to load", remedy);
}

void check_dataset(const DatasetConfig& data, const Names& classes, const CheckOptions& options,
                   Collector* out) {
  const std::string mapping = "dataset_config.target_class_mapping";
  Names targets, labels;
  for (const auto& [label, target] : data.target_class_mapping()) {
    labels.push_back(label);
    targets.push_back(target);
  }
  std::sort(labels.begin(), labels.end());
  for (const std::string& label : labels) {
    const std::string& target = data.target_class_mapping().at(label);
    if (!contains(classes, target) && !classes.empty()) {
      out->refuse(entry_path(mapping, label),
                  fmt::format("{} is not one of cost_function_config.target_classes", target),
                  did_you_mean(target, classes));
    }
    if (label != base::to_lower(label)) {
      out->warn(entry_path(mapping, label),
                fmt::format("{} has capital letters, labels in TFRecords have none", label),
                fmt::format("write {}", base::to_lower(label)));
    }
  }
  if (options.data_from_elsewhere || labels.empty()) return;
  for (const std::string& name : classes) {
    if (contains(targets, name)) continue;
    out->warn(mapping, fmt::format("no label is mapped to class {}: it cannot be learnt", name),
              "add an entry for it");
  }
  if (data.dataset_split_type_case() == DatasetConfig::DATASET_SPLIT_TYPE_NOT_SET) {
    out->warn("dataset_config", "nothing to validate with", "set validation_fold or validation_data_source");
  }
  if (data.image_extension().starts_with('.')) {
    out->refuse("dataset_config.image_extension",
                fmt::format("\"{}\" starts with a dot", data.image_extension()),
                fmt::format("write \"{}\"", data.image_extension().substr(1)));
  }
}

void check_evaluation(const EvaluationConfig& config, const Names& classes, Collector* out) {
  const std::string boxes = "evaluation_config.evaluation_box_config";
  check_class_map(config.minimum_detection_ground_truth_overlap(),
                  "evaluation_config.minimum_detection_ground_truth_overlap", classes, false, out);
  check_class_map(config.evaluation_box_config(), boxes, classes, false, out);
  std::set<std::string> keys;
  for (const auto& [key, limits] : config.evaluation_box_config()) keys.insert(key);
  for (const std::string& key : keys) {
    const auto& limits = config.evaluation_box_config().at(key);
    const std::string path = entry_path(boxes, key);
    if (limits.minimum_height() > limits.maximum_height() && limits.maximum_height() > 0) {
      out->refuse(path + ".minimum_height", "is larger than maximum_height: no box would count", "swap them");
    }
    if (limits.minimum_width() > limits.maximum_width() && limits.maximum_width() > 0) {
      out->refuse(path + ".minimum_width", "is larger than maximum_width: no box would count", "swap them");
    }
  }
}

}  // namespace

base::Findings cross_check(const Experiment& spec, const Source& source, const CheckOptions& options) {
  Collector out(source);
  Names classes;
  for (const auto& target : spec.cost_function_config().target_classes()) classes.push_back(target.name());
  check_dataset(spec.dataset_config(), classes, options, &out);
  check_augmentation(spec.augmentation_config(), &out);
  check_model(spec.model_config(), &out);
  check_cost(spec.cost_function_config(), &out);
  check_training(spec, &out);
  check_evaluation(spec.evaluation_config(), classes, &out);
  check_class_map(spec.bbox_rasterizer_config().target_class_config(),
                  "bbox_rasterizer_config.target_class_config", classes, false, &out);
  check_class_map(spec.postprocessing_config().target_class_config(),
                  "postprocessing_config.target_class_config", classes, true, &out);
  return out.take();
}

base::Findings cross_check(const DatasetExportConfig& config, const Source& source, const CheckOptions&) {
  Collector out(source);
  if (config.has_kitti_config()) {
    const auto& kitti = config.kitti_config();
    if (kitti.partition_mode() == "random" && kitti.num_partitions() != 2) {
      out.refuse("kitti_config.num_partitions",
                 fmt::format("random needs 2 partitions, not {}", kitti.num_partitions()), "set it to 2");
    }
    if (kitti.partition_mode() == "sequence" && kitti.kitti_sequence_to_frames_file().empty()) {
      out.refuse("kitti_config.kitti_sequence_to_frames_file",
                 "sequence needs the file that lists the sequences",
                 "set it, or choose partition_mode random");
    }
  }
  if (config.has_coco_config()) {
    const auto& coco = config.coco_config();
    const int folds = static_cast<int>(coco.num_partitions());
    if (coco.img_dir_names_size() != folds || coco.annotation_files_size() != folds) {
      out.refuse("coco_config.num_partitions",
                 fmt::format("{} partitions, {} img_dir_names, {} annotation_files", folds,
                             coco.img_dir_names_size(), coco.annotation_files_size()),
                 "give one folder and one file a partition");
    }
    if (coco.num_shards_size() > 1 && coco.num_shards_size() != folds) {
      out.refuse("coco_config.num_shards",
                 fmt::format("{} numbers for {} partitions", coco.num_shards_size(), folds),
                 "give one number, or one a partition");
    }
  }
  const auto& modifier = config.sample_modifier_config();
  Names targets;
  for (const auto& [label, target] : modifier.source_to_target_class_mapping()) targets.push_back(target);
  const auto check_names = [&](const auto& names, const std::string& path) {
    for (int i = 0; i < names.size(); ++i) {
      if (contains(targets, names.Get(i))) continue;
      out.refuse(item_path(path, i), fmt::format("nothing is mapped to class {}", names.Get(i)),
                 "add it to sample_modifier_config.source_to_target_class_mapping");
    }
  };
  check_names(modifier.filter_samples_containing_only(),
              "sample_modifier_config.filter_samples_containing_only");
  check_names(modifier.dominant_target_classes(), "sample_modifier_config.dominant_target_classes");
  return out.take();
}

base::Findings cross_check(const Inference& inference, const Source& source, const CheckOptions&) {
  Collector out(source);
  const auto& inferencer = inference.inferencer_config();
  const Names classes(inferencer.target_classes().begin(), inferencer.target_classes().end());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (std::count(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(i), classes[i]) > 0) {
      out.refuse(item_path("inferencer_config.target_classes", static_cast<int>(i)),
                 fmt::format("class {} is listed twice", classes[i]), "keep one of them");
    }
  }
  const auto& handler = inference.bbox_handler_config();
  check_class_map(handler.classwise_bbox_handler_config(),
                  "bbox_handler_config.classwise_bbox_handler_config", classes, true, &out);
  for (int i = 0; i < handler.postproc_classes_size(); ++i) {
    const std::string& name = handler.postproc_classes(i);
    if (contains(classes, name) || classes.empty()) continue;
    out.refuse(item_path("bbox_handler_config.postproc_classes", i),
               fmt::format("{} is not a target class", name), did_you_mean(name, classes));
  }
  if (inferencer.has_tensorrt_config()) {
    const auto& engine = inferencer.tensorrt_config();
    if (engine.trt_engine().empty() && engine.etlt_model().empty() && engine.uff_model().empty() &&
        engine.caffemodel().empty()) {
      out.refuse("inferencer_config.tensorrt_config", "names neither a model nor an engine",
                 "set etlt_model or trt_engine");
    }
  }
  return out.take();
}

}  // namespace maskfit::spec
