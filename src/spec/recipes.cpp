#include "spec/recipes.h"

#include "base/error.h"
#include "spec/text_parser.h"

namespace maskfit::spec {
namespace {

constexpr const char* kPlaceholder = "CLASS";

constexpr std::string_view kTlt = R"(
random_seed: 42
augmentation_config {
  preprocessing {
    output_image_width: 960
    output_image_height: 544
    output_image_channel: 3
    min_bbox_width: 1
    min_bbox_height: 1
    enable_auto_resize: true
  }
  spatial_augmentation { hflip_probability: 0.5 zoom_min: 1 zoom_max: 1 translate_max_x: 8 translate_max_y: 8 }
  color_augmentation {
    hue_rotation_max: 25
    saturation_shift_max: 0.2
    contrast_scale_max: 0.1
    contrast_center: 0.5
  }
}
postprocessing_config {
  target_class_config {
    key: "CLASS"
    value {
      clustering_config {
        clustering_algorithm: DBSCAN
        coverage_threshold: 0.005
        dbscan_eps: 0.2
        dbscan_min_samples: 0.05
        minimum_bounding_box_height: 20
      }
    }
  }
}
model_config {
  arch: "resnet"
  num_layers: 18
  use_batch_norm: true
  objective_set { bbox { scale: 35 offset: 0.5 } cov {} }
}
evaluation_config {
  validation_period_during_training: 10
  first_validation_epoch: 10
  average_precision_mode: INTEGRATE
  minimum_detection_ground_truth_overlap { key: "CLASS" value: 0.5 }
  evaluation_box_config {
    key: "CLASS"
    value { minimum_height: 20 maximum_height: 9999 minimum_width: 10 maximum_width: 9999 }
  }
}
cost_function_config {
  target_classes {
    name: "CLASS"
    class_weight: 1
    coverage_foreground_weight: 0.05
    objectives { name: "cov" initial_weight: 1 weight_target: 1 }
    objectives { name: "bbox" initial_weight: 10 weight_target: 10 }
  }
  enable_autoweighting: true
  max_objective_weight: 0.9999
  min_objective_weight: 0.0001
}
training_config {
  recipe: TLT
  batch_size_per_gpu: 24
  num_epochs: 120
  learning_rate {
    soft_start_annealing_schedule {
      min_learning_rate: 5e-6
      max_learning_rate: 5e-4
      soft_start: 0.1
      annealing: 0.7
    }
  }
  regularizer { type: L1 weight: 3e-9 }
  optimizer { adam { epsilon: 1e-8 beta1: 0.9 beta2: 0.999 } }
  cost_scaling { enabled: false initial_exponent: 20 increment: 0.005 decrement: 1 }
  checkpoint_interval: 10
}
bbox_rasterizer_config {
  target_class_config {
    key: "CLASS"
    value { cov_center_x: 0.5 cov_center_y: 0.5 cov_radius_x: 0.4 cov_radius_y: 0.4 bbox_min_radius: 1 }
  }
  deadzone_radius: 0.4
}
)";

// Laid over the above.
constexpr std::string_view kScratch = R"(
augmentation_config {
  preprocessing { canvas: LETTERBOX min_bbox_width: 4 min_bbox_height: 4 }
  spatial_augmentation {
    hflip_probability: 0.5
    translate_max_x: 0
    translate_max_y: 0
    rotate_rad_max: 0.1745
    aspect_jitter: 0.2
    placement { scale_min: 0.4 scale_max: 2 mosaic_scale_min: 0.25 mosaic_scale_max: 1.5 }
  }
  color_augmentation {
    color_shift_stddev: 0.2
    hue_rotation_max: 30
    saturation_shift_max: 0.7
    contrast_scale_max: 0.5
    contrast_center: 0.5
    grayscale_probability: 0.15
  }
  mosaic_probability: 1
  mosaic_off_last_epochs: 4
  min_visible_share: 0.3
}
postprocessing_config {
  target_class_config {
    key: "CLASS"
    value {
      clustering_config {
        clustering_algorithm: NMS
        coverage_threshold: 0.005
        nms_iou_threshold: 0.7
        nms_confidence_threshold: 0.005
        nms_vote_iou: 0.7
      }
    }
  }
}
model_config {
  all_projections: true
  coverage_prior: 0.01
  box_prior: 35
  head_init_scale: 0.15
  bn_momentum: 0.97
}
evaluation_config {
  average_precision_mode: ALL_POINT
  evaluation_box_config {
    key: "CLASS"
    value { minimum_height: 0 maximum_height: 9999 minimum_width: 0 maximum_width: 9999 }
  }
}
cost_function_config {
  target_classes {
    name: "CLASS"
    class_weight: 1
    coverage_foreground_weight: 0.5
    objectives { name: "cov" initial_weight: 1 weight_target: 1 }
    objectives { name: "bbox" initial_weight: 1 weight_target: 1 }
  }
  enable_autoweighting: false
  task_aligned {}
}
training_config {
  recipe: SCRATCH
  batch_size_per_gpu: 16
  learning_rate {
    warmup_cosine_schedule { max_learning_rate: 1e-3 min_learning_rate: 1e-5 warmup_epochs: 3 }
  }
  regularizer { type: NO_REG weight: 0 }
  optimizer { adamw { weight_decay: 0.2 } }
  ema_decay: 0.9998
  gradient_clip_norm: 5
}
)";

void overlay(std::string_view text, Experiment* experiment) {
  Source source;
  base::Findings findings;
  parse_text(text, experiment, &source, &findings, ParseMode::kOverlay);
  MASKFIT_CHECK(findings.empty(), "recipe: {}", base::to_string(findings.front()));
}

// The placeholder's entry, once a class.
template <typename Map>
void expand(Map* map, const std::vector<std::string>& class_names) {
  const auto entry = map->at(kPlaceholder);
  map->erase(kPlaceholder);
  for (const std::string& name : class_names) (*map)[name] = entry;
}

}  // namespace

std::string_view recipe_text(TrainingConfig::Recipe recipe) {
  return recipe == TrainingConfig::SCRATCH ? kScratch : kTlt;
}

Experiment recipe_experiment(TrainingConfig::Recipe recipe, const std::vector<std::string>& class_names) {
  MASKFIT_CHECK(recipe == TrainingConfig::TLT || recipe == TrainingConfig::SCRATCH, "recipe {}",
                static_cast<int>(recipe));
  Experiment experiment;
  overlay(kTlt, &experiment);
  if (recipe == TrainingConfig::SCRATCH) overlay(kScratch, &experiment);

  expand(experiment.mutable_postprocessing_config()->mutable_target_class_config(), class_names);
  expand(experiment.mutable_bbox_rasterizer_config()->mutable_target_class_config(), class_names);
  expand(experiment.mutable_evaluation_config()->mutable_minimum_detection_ground_truth_overlap(),
         class_names);
  expand(experiment.mutable_evaluation_config()->mutable_evaluation_box_config(), class_names);
  auto& targets = *experiment.mutable_cost_function_config()->mutable_target_classes();
  const CostFunctionConfig::TargetClass target = targets.Get(0);
  targets.Clear();
  for (const std::string& name : class_names) {
    *targets.Add() = target;
    targets.Mutable(targets.size() - 1)->set_name(name);
  }
  return experiment;
}

}  // namespace maskfit::spec
