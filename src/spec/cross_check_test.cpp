#include "spec/cross_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "spec/load.h"
#include "spec/set_field.h"
#include "tests/support/temp_dir.h"

namespace maskfit::spec {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string read(const std::string& name) {
  return base::read_file(support::source_dir() / "src/spec/testdata" / name);
}

template <typename Spec>
std::vector<std::string> found(Loaded<Spec> loaded, const std::vector<std::string>& changes,
                               const CheckOptions& options = {}) {
  for (const std::string& change : changes) {
    EXPECT_THAT(set_field(&loaded.spec, change, &loaded.source), IsEmpty()) << change;
  }
  std::vector<std::string> lines;
  for (const base::Finding& finding : cross_check(loaded.spec, loaded.source, options)) {
    lines.push_back((finding.severity == base::Severity::kRefused ? "refused " : "warning ") + finding.field +
                    ": " + finding.what + "; " + finding.remedy);
  }
  return lines;
}

std::vector<std::string> train(const std::vector<std::string>& changes) {
  return found(read_experiment(read("tlt2_train_resnet18.txt"), "train.txt"), changes);
}

std::vector<std::string> inference(const std::vector<std::string>& changes) {
  return found(read_inference(read("tao5_inference_tlt.txt"), "infer.txt"), changes);
}

TEST(CrossCheck, TheGoodSpecsHaveNoFindings) {
  EXPECT_THAT(train({}), IsEmpty());
  EXPECT_THAT(inference({}), IsEmpty());
}

TEST(CrossCheck, ZoomsAndCropsInTheWrongOrder) {
  EXPECT_THAT(
      train({"augmentation_config.spatial_augmentation.zoom_min=1.5"}),
      ElementsAre(HasSubstr("refused augmentation_config.spatial_augmentation.zoom_min: 1.5 is larger than "
                            "zoom_max = 1")));
  const std::string pre = "augmentation_config.preprocessing.";
  EXPECT_THAT(train({pre + "crop_left=100", pre + "crop_right=50"}),
              ElementsAre(HasSubstr("crop_left: 100 is right of crop_right = 50")));
  EXPECT_THAT(train({pre + "crop_right=960", pre + "crop_bottom=500"}),
              ElementsAre(HasSubstr("the crop is 960x500 px, the network's input 960x544")));
  EXPECT_THAT(train({pre + "crop_right=960", pre + "crop_bottom=544"}), IsEmpty());
}

TEST(CrossCheck, SchedulesThatCannotBe) {
  EXPECT_THAT(train({"training_config.learning_rate.soft_start_annealing_schedule.soft_start=0.8"}),
              ElementsAre(HasSubstr("the rise ends at 0.8, behind the start of the fall at 0.7")));
  const std::string early = "training_config.learning_rate.early_stopping_annealing_schedule.patience_steps=";
  EXPECT_THAT(train({early + "5"}),
              ElementsAre(HasSubstr("5 epochs is shorter than the validation period of 10")));
  EXPECT_THAT(train({early + "500"}), ElementsAre(HasSubstr("500 is longer than the run of 120 epochs")));
  EXPECT_THAT(train({early + "20"}), IsEmpty());
  EXPECT_THAT(train({"evaluation_config.first_validation_epoch=200"}),
              ElementsAre(HasSubstr("warning evaluation_config.first_validation_epoch: 200 lies behind")));
}

TEST(CrossCheck, EveryClassNeedsAnEntryInEverySection) {
  const auto lines = train({"cost_function_config.target_classes[mask].name=helmet"});
  for (const char* section :
       {"bbox_rasterizer_config.target_class_config", "postprocessing_config.target_class_config",
        "evaluation_config.minimum_detection_ground_truth_overlap",
        "evaluation_config.evaluation_box_config"}) {
    EXPECT_THAT(lines,
                Contains(AllOf(HasSubstr(std::string("refused ") + section + ": no entry for class helmet"),
                               HasSubstr("key: \"helmet\""))));
    EXPECT_THAT(lines,
                Contains(HasSubstr(std::string("warning ") + section + "[mask]: mask is not a class")));
  }
}

TEST(CrossCheck, ADefaultEntryStandsForAllClasses) {
  EXPECT_THAT(inference({"inferencer_config.target_classes=[\"a\", \"b\"]",
                         "bbox_handler_config.postproc_classes=[\"a\"]"}),
              IsEmpty());
}

TEST(CrossCheck, EntryForNoClassSuggestsTheNearestOne) {
  EXPECT_THAT(
      train({"bbox_rasterizer_config.target_class_config[nomask].cov_radius_x=1"}),
      ElementsAre(HasSubstr("target_class_config[nomask]: nomask is not a class of this spec; did you mean "
                            "no-mask?")));
}

TEST(CrossCheck, ClassMappingMustLeadToClasses) {
  EXPECT_THAT(train({"dataset_config.target_class_mapping[face]=nomask"}),
              ElementsAre(HasSubstr("refused dataset_config.target_class_mapping[face]: nomask is not one of "
                                    "cost_function_config.target_classes; did you mean no-mask?")));
  EXPECT_THAT(train({"dataset_config.target_class_mapping[mask]=no-mask"}),
              ElementsAre(HasSubstr("no label is mapped to class mask")));
  EXPECT_THAT(train({"dataset_config.target_class_mapping[Face]=mask"}),
              ElementsAre(HasSubstr("Face has capital letters, labels in TFRecords have none; write face")));
}

TEST(CrossCheck, NothingToValidateWith) {
  std::string text = read("tlt2_train_resnet18.txt");
  const std::string line = "  validation_fold: 0\n";
  text.erase(text.find(line), line.size());
  EXPECT_THAT(found(read_experiment(text, "t"), {}),
              ElementsAre(HasSubstr("warning dataset_config: nothing to validate with")));
}

TEST(CrossCheck, ImageExtensionWithADot) {
  EXPECT_THAT(train({"dataset_config.image_extension=.jpg"}), ElementsAre(HasSubstr("write \"jpg\"")));
}

TEST(CrossCheck, ObjectivesMustBeCovAndBbox) {
  EXPECT_THAT(
      train({"cost_function_config.target_classes[0].objectives[1].name=cov"}),
      ElementsAre(HasSubstr("target_classes[0].objectives: needs exactly one entry for cov and one for bbox; "
                            "found 2 and 0")));
  EXPECT_THAT(train({"cost_function_config.target_classes[0].objectives[cov].initial_weight=0",
                     "cost_function_config.target_classes[0].objectives[bbox].initial_weight=0"}),
              ElementsAre(HasSubstr("all initial_weight are 0")));
  EXPECT_THAT(train({"cost_function_config.target_classes[1].name=mask"}),
              Contains(HasSubstr("class mask is listed twice")));
}

TEST(CrossCheck, AutoWeightingNeedsLimits) {
  EXPECT_THAT(train({"cost_function_config.max_objective_weight=0"}),
              Contains(HasSubstr("with auto-weighting 0 would switch every loss off")));
  EXPECT_THAT(train({"cost_function_config.enable_autoweighting=false",
                     "cost_function_config.max_objective_weight=0"}),
              IsEmpty());
}

TEST(CrossCheck, BoxLossOfNothing) {
  EXPECT_THAT(train({"cost_function_config.box_loss={}"}), ElementsAre(HasSubstr("all parts are 0")));
  EXPECT_THAT(train({"cost_function_config.box_loss={giou: 1}"}), IsEmpty());
}

TEST(CrossCheck, FreezingAndLoadingNeedPretrainedWeights) {
  EXPECT_THAT(
      train({"model_config.pretrained_model_file=", "model_config.freeze_blocks=[0]",
             "model_config.load_graph=true"}),
      ElementsAre(HasSubstr("random weights must not be frozen"), HasSubstr("there is no file to load")));
}

TEST(CrossCheck, TwoPrecisionsThatContradict) {
  EXPECT_THAT(
      train({"model_config.training_precision.backend_floatx=FLOAT16", "training_config.precision=bf16"}),
      ElementsAre(HasSubstr("BF16 contradicts model_config.training_precision FLOAT16")));
}

TEST(CrossCheck, EvaluationLimitsThatAdmitNothing) {
  EXPECT_THAT(
      train({"evaluation_config.evaluation_box_config[mask].maximum_height=10"}),
      ElementsAre(HasSubstr("[mask].minimum_height: is larger than maximum_height: no box would count")));
}

TEST(CrossCheck, InferenceClasses) {
  EXPECT_THAT(inference({"bbox_handler_config.postproc_classes=[\"maks\"]"}),
              ElementsAre(HasSubstr("postproc_classes[0]: maks is not a target class; did you mean mask?")));
  EXPECT_THAT(inference({"inferencer_config.target_classes=[\"mask\", \"no-mask\", \"mask\"]"}),
              ElementsAre(HasSubstr("target_classes[2]: class mask is listed twice")));
  EXPECT_THAT(inference({"inferencer_config.tensorrt_config={parser: ETLT}"}),
              ElementsAre(HasSubstr("names neither a model nor an engine")));
}

TEST(CrossCheck, DatasetConvert) {
  const auto kitti = [](const std::vector<std::string>& changes) {
    return found(read_dataset_export(read("tlt2_tfrecords_trainval.txt"), "k.txt"), changes);
  };
  EXPECT_THAT(kitti({}), IsEmpty());
  EXPECT_THAT(kitti({"kitti_config.num_partitions=3"}),
              ElementsAre(HasSubstr("random needs 2 partitions, not 3")));
  EXPECT_THAT(kitti({"kitti_config.partition_mode=sequence"}),
              ElementsAre(HasSubstr("sequence needs the file that lists the sequences")));
  const auto coco = [](const std::vector<std::string>& changes) {
    return found(read_dataset_export(read("tao5_tfrecords_coco.txt"), "c.txt"), changes);
  };
  EXPECT_THAT(coco({}), IsEmpty());
  EXPECT_THAT(coco({"coco_config.num_partitions=3"}),
              ElementsAre(HasSubstr("3 partitions, 2 img_dir_names, 2 annotation_files"),
                          HasSubstr("2 numbers for 3 partitions")));
  EXPECT_THAT(coco({"sample_modifier_config.dominant_target_classes=[\"hat\"]"}),
              ElementsAre(HasSubstr("dominant_target_classes[0]: nothing is mapped to class hat")));
}

}  // namespace
}  // namespace maskfit::spec
