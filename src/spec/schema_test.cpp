// What must hold for every field of the schema, whoever adds one.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "spec/check.h"
#include "spec/defaults.h"
#include "spec/experiment.pb.h"
#include "spec/inference.pb.h"
#include "spec/print.h"
#include "spec/rules.h"

namespace maskfit::spec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

void collect(const Descriptor& section, std::vector<const Descriptor*>* sections) {
  if (section.options().map_entry()) {
    if (const Descriptor* value = section.map_value()->message_type()) collect(*value, sections);
    return;
  }
  if (std::find(sections->begin(), sections->end(), &section) != sections->end()) return;
  sections->push_back(&section);
  for (int i = 0; i < section.field_count(); ++i) {
    if (const Descriptor* inner = section.field(i)->message_type()) collect(*inner, sections);
  }
}

std::vector<const Descriptor*> all_sections() {
  std::vector<const Descriptor*> sections;
  collect(*Experiment::descriptor(), &sections);
  collect(*DatasetExportConfig::descriptor(), &sections);
  collect(*Inference::descriptor(), &sections);
  return sections;
}

std::vector<const FieldDescriptor*> all_fields() {
  std::vector<const FieldDescriptor*> fields;
  for (const Descriptor* section : all_sections()) {
    for (int i = 0; i < section->field_count(); ++i) fields.push_back(section->field(i));
  }
  return fields;
}

// Names and numbers of the reference's schema; a changed number breaks binary files and other readers.
const std::map<std::string, std::string> kReferenceNumbers = {
    {"Experiment",
     "1 random_seed, 2 dataset_config, 3 augmentation_config, 4 postprocessing_config, 5 model_config, 6 "
     "evaluation_config, 8 cost_function_config, 9 training_config, 10 bbox_rasterizer_config, 11 "
     "loss_mask_label_filter, 12 dataset_export_config"},
    {"DatasetConfig",
     "1 data_sources, 2 image_extension, 3 target_class_mapping, 4 validation_fold, 5 "
     "validation_data_source, 6 "
     "dataloader_mode, 7 sampling_mode"},
    {"DataSource", "1 tfrecords_path, 2 image_directory_path, 3 source_weight"},
    {"AugmentationConfig", "1 preprocessing, 2 spatial_augmentation, 3 color_augmentation"},
    {"AugmentationConfig.Preprocessing",
     "1 output_image_width, 2 output_image_height, 4 crop_left, 5 crop_top, 6 crop_right, 7 crop_bottom, 8 "
     "min_bbox_width, 9 min_bbox_height, 10 scale_width, 11 scale_height, 13 output_image_channel, 14 "
     "output_image_min, 15 output_image_max, 16 enable_auto_resize"},
    {"AugmentationConfig.SpatialAugmentation",
     "1 hflip_probability, 2 vflip_probability, 3 zoom_min, 4 zoom_max, 5 translate_max_x, 6 "
     "translate_max_y, 7 "
     "rotate_rad_max, 8 rotate_probability"},
    {"AugmentationConfig.ColorAugmentation",
     "1 color_shift_stddev, 2 hue_rotation_max, 3 saturation_shift_max, 5 contrast_scale_max, 8 "
     "contrast_center"},
    {"ModelConfig",
     "1 pretrained_model_file, 2 freeze_pretrained_layers, 3 allow_loaded_model_modification, 4 "
     "num_layers, 5 "
     "use_pooling, 6 use_batch_norm, 7 dropout_rate, 8 activation, 9 objective_set, 10 training_precision, "
     "11 "
     "freeze_bn, 12 freeze_blocks, 13 arch, 14 load_graph, 15 all_projections"},
    {"ModelConfig.Activation", "1 activation_type, 2 activation_parameters"},
    {"ModelConfig.ObjectiveSet", "1 bbox, 2 cov"},
    {"ModelConfig.BboxObjective", "1 input, 2 scale, 3 offset"},
    {"ModelConfig.CovObjective", "1 input"},
    {"ModelConfig.TrainingPrecision", "1 backend_floatx"},
    {"TrainingConfig",
     "1 batch_size_per_gpu, 2 num_epochs, 3 learning_rate, 4 regularizer, 5 optimizer, 6 cost_scaling, 7 "
     "checkpoint_interval, 8 enable_qat, 9 visualizer"},
    {"LearningRateConfig", "1 soft_start_annealing_schedule, 2 early_stopping_annealing_schedule"},
    {"SoftStartAnnealingSchedule", "1 min_learning_rate, 2 max_learning_rate, 3 soft_start, 4 annealing"},
    {"EarlyStoppingAnnealingSchedule",
     "1 min_learning_rate, 2 max_learning_rate, 3 soft_start_epochs, 4 annealing_epochs, 5 patience_steps"},
    {"RegularizerConfig", "1 type, 2 weight"},
    {"OptimizerConfig", "1 adam"},
    {"AdamOptimizerConfig", "1 epsilon, 2 beta1, 3 beta2"},
    {"CostScalingConfig", "1 enabled, 2 initial_exponent, 3 increment, 4 decrement"},
    {"VisualizerConfig",
     "1 enabled, 2 num_images, 3 scalar_logging_frequency, 4 infrequent_logging_frequency, 5 "
     "target_class_config, 6 "
     "wandb_config, 7 clearml_config"},
    {"WandBConfig",
     "1 enabled, 2 key, 3 project, 4 entity, 5 reinit, 6 name, 7 tags, 8 wandb_dir, 9 notes, 10 mode"},
    {"ClearMLConfig",
     "1 project, 2 task, 3 tags, 4 reuse_last_task_id, 5 continue_last_task, 6 deferred_init"},
    {"EvaluationConfig",
     "1 validation_period_during_training, 2 first_validation_epoch, 3 "
     "minimum_detection_ground_truth_overlap, 4 "
     "evaluation_box_config, 5 average_precision_mode, 6 early_stopping_patience_steps"},
    {"EvaluationConfig.EvaluationBoxConfig",
     "1 minimum_height, 2 maximum_height, 3 minimum_width, 4 maximum_width"},
    {"CostFunctionConfig",
     "1 target_classes, 2 enable_autoweighting, 3 max_objective_weight, 4 min_objective_weight"},
    {"CostFunctionConfig.TargetClass", "1 name, 2 class_weight, 3 coverage_foreground_weight, 4 objectives"},
    {"CostFunctionConfig.Objective", "1 name, 2 initial_weight, 3 weight_target"},
    {"BboxRasterizerConfig", "1 target_class_config, 2 deadzone_radius"},
    {"BboxRasterizerConfig.TargetClassConfig",
     "1 cov_center_x, 2 cov_center_y, 3 cov_radius_x, 4 cov_radius_y, 5 bbox_min_radius"},
    {"PostProcessingConfig", "1 target_class_config"},
    {"PostProcessingConfig.TargetClassConfig", "1 clustering_config, 2 confidence_config"},
    {"ConfidenceConfig", "1 confidence_threshold, 2 confidence_model_filename, 3 normalization_mode"},
    {"ClusteringConfig",
     "1 coverage_threshold, 2 minimum_bounding_box_height, 3 clustering_algorithm, 4 dbscan_eps, 5 "
     "dbscan_min_samples, 6 neighborhood_size, 7 dbscan_confidence_threshold, 8 nms_iou_threshold, 9 "
     "nms_confidence_threshold"},
    {"ObjectiveLabelFilter", "1 objective_label_filter_configs, 2 mask_multiplier, 3 preserve_ground_truth"},
    {"ObjectiveLabelFilter.ObjectiveLabelFilterConfig",
     "1 label_filter, 2 target_class_names, 3 objective_names"},
    {"LabelFilter", "1 bbox_dimensions_label_filter, 2 bbox_crop_label_filter, 3 source_class_label_filter"},
    {"BboxDimensionsLabelFilter", "1 min_width, 2 min_height, 3 max_width, 4 max_height"},
    {"BboxCropLabelFilter", "1 crop_left, 2 crop_right, 3 crop_top, 4 crop_bottom"},
    {"SourceClassLabelFilter", "4 source_class_names"},
    {"DatasetExportConfig",
     "1 coco_config, 2 kitti_config, 5 sample_modifier_config, 6 image_directory_path, 7 "
     "target_class_mapping"},
    {"KittiExportConfig",
     "1 root_directory_path, 2 image_dir_name, 3 label_dir_name, 4 point_clouds_dir, 5 calibrations_dir, 6 "
     "kitti_sequence_to_frames_file, 7 image_extension, 8 num_partitions, 9 num_shards, 10 partition_mode, "
     "11 "
     "val_split"},
    {"CocoExportConfig",
     "1 root_directory_path, 2 img_dir_names, 3 annotation_files, 4 num_partitions, 5 num_shards"},
    {"SampleModifierConfig",
     "1 filter_samples_containing_only, 2 dominant_target_classes, 3 minimum_target_class_imbalance, 4 "
     "num_duplicates, 5 max_training_samples, 6 source_to_target_class_mapping"},
    {"Inference", "1 inferencer_config, 2 bbox_handler_config"},
    {"InferencerConfig",
     "1 tlt_config, 2 tensorrt_config, 3 input_nodes, 4 output_nodes, 5 batch_size, 6 image_height, 7 "
     "image_width, 8 "
     "image_channels, 9 gpu_index, 10 target_classes, 11 stride"},
    {"TensorRTConfig",
     "1 parser, 2 caffemodel, 3 prototxt, 4 uff_model, 5 etlt_model, 6 backend_data_type, 7 save_engine, 8 "
     "trt_engine, 9 calibrator_config"},
    {"CalibratorConfig", "1 calibration_cache, 2 calibration_tensorfile, 3 n_batches"},
    {"BboxHandlerConfig",
     "1 kitti_dump, 2 disable_overlay, 3 overlay_linewidth, 4 classwise_bbox_handler_config, 5 "
     "postproc_classes, 6 "
     "wandb_config"},
    // 4 is TLT 2.0's confidence_threshold, whose number is not known; text files do not need it.
    {"ClasswiseBboxHandlerConfig",
     "1 clustering_config, 2 confidence_model, 3 output_map, 4 confidence_threshold, 7 bbox_color"},
    {"ClasswiseBboxHandlerConfig.BboxColor", "1 R, 2 G, 3 B"},
};

TEST(Schema, EveryFieldAndSectionHasHelpWithoutAFullStop) {
  for (const FieldDescriptor* field : all_fields()) {
    EXPECT_FALSE(rule_of(*field).help().empty()) << field->full_name();
    EXPECT_FALSE(rule_of(*field).help().ends_with('.')) << field->full_name();
  }
  for (const Descriptor* section : all_sections())
    EXPECT_FALSE(section_help(*section).empty()) << section->full_name();
}

TEST(Schema, EveryDefaultFitsItsOwnRule) {
  for (const Descriptor* section : all_sections()) {
    SCOPED_TRACE(section->full_name());
    std::unique_ptr<google::protobuf::Message> message(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(section)->New());
    apply_defaults(message.get());  // a default that does not parse ends here
    for (int i = 0; i < section->field_count(); ++i) {
      const FieldDescriptor& field = *section->field(i);
      if (rule_of(field).default_().empty()) continue;
      EXPECT_TRUE(message->GetReflection()->HasField(*message, &field)) << field.name();
      for (const base::Finding& finding : check_fields(*message, Source(), {.incomplete = true})) {
        EXPECT_NE(finding.field, field.name()) << base::to_string(finding);
      }
    }
  }
}

TEST(Schema, AZeroOutsideTheRangeIsEitherRequiredOptionalOrHasADefault) {
  // Otherwise an unset field would be out of its own range, and nobody could tell.
  for (const FieldDescriptor* field : all_fields()) {
    const FieldRule& about = rule_of(*field);
    if (field->is_repeated() || field->has_presence() || !is_number(*field)) continue;
    const bool zero_allowed =
        !(about.has_above() && about.above() >= 0) && !(about.has_min() && about.min() > 0);
    EXPECT_TRUE(zero_allowed || about.required() || !about.default_().empty()) << field->full_name();
  }
}

TEST(Schema, ARuleSaysOnlyOneThingAboutSupport) {
  for (const FieldDescriptor* field : all_fields()) {
    const FieldRule& about = rule_of(*field);
    EXPECT_LE(!about.unsupported().empty() + !about.refused_at_run().empty() + !about.no_effect().empty(), 1)
        << field->full_name();
    EXPECT_TRUE(about.supported().empty() || !about.unsupported().empty())
        << field->full_name() << ": a list of supported values needs the reason why others are not";
  }
}

TEST(Schema, DefaultsAreIdempotent) {
  Experiment experiment;
  experiment.mutable_augmentation_config();
  experiment.mutable_model_config();
  apply_defaults(&experiment);
  const std::string once = to_text(experiment);
  apply_defaults(&experiment);
  EXPECT_EQ(to_text(experiment), once);
}

TEST(Schema, ReferenceFieldsKeepTheirNumbers) {
  std::map<std::string, std::string> ours;
  for (const Descriptor* section : all_sections()) {
    std::map<int, std::string> by_number;
    for (int i = 0; i < section->field_count(); ++i) {
      if (section->field(i)->number() < 100)
        by_number[section->field(i)->number()] = section->field(i)->name();
    }
    std::string text;
    for (const auto& [number, name] : by_number) {
      text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + name;
    }
    ours[section->full_name().substr(std::string("maskfit.spec.").size())] = text;
  }
  for (const auto& [section, fields] : kReferenceNumbers) EXPECT_EQ(ours[section], fields) << section;
}

}  // namespace
}  // namespace maskfit::spec
