#include "spec/set_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/load.h"
#include "spec/print.h"
#include "spec/recipes.h"

namespace maskfit::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SetField : public testing::Test {
 protected:
  Experiment spec_ = recipe_experiment(TrainingConfig::TLT, {"mask", "no-mask"});
  Source source_{"train.txt"};

  std::vector<std::string> set(std::string_view assignment) {
    std::vector<std::string> lines;
    for (const base::Finding& finding : set_field(&spec_, assignment, &source_))
      lines.push_back(base::to_string(finding));
    return lines;
  }
};

TEST_F(SetField, NumberFlagNameAndText) {
  EXPECT_THAT(set("training_config.num_epochs=5"), IsEmpty());
  EXPECT_THAT(set("model_config.all_projections=true"), IsEmpty());
  EXPECT_THAT(set("training_config.precision=bf16"), IsEmpty());
  EXPECT_THAT(set("model_config.pretrained_model_file=/home/a b/resnet \"18\".hdf5"), IsEmpty());
  EXPECT_EQ(spec_.training_config().num_epochs(), 5u);
  EXPECT_TRUE(spec_.model_config().all_projections());
  EXPECT_EQ(spec_.training_config().precision(), TrainingConfig::BF16);
  EXPECT_EQ(spec_.model_config().pretrained_model_file(), "/home/a b/resnet \"18\".hdf5");
}

TEST_F(SetField, QuotesAroundTextAreNotPartOfIt) {
  EXPECT_THAT(set("model_config.arch=\"vgg\""), IsEmpty());
  EXPECT_EQ(spec_.model_config().arch(), "vgg");
}

TEST_F(SetField, EntriesByKeyPlaceOrName) {
  EXPECT_THAT(set("postprocessing_config.target_class_config[mask].clustering_config.dbscan_eps=0.3"),
              IsEmpty());
  EXPECT_THAT(set("cost_function_config.target_classes[no-mask].class_weight=8"), IsEmpty());
  EXPECT_THAT(set("cost_function_config.target_classes[0].objectives[bbox].weight_target=3"), IsEmpty());
  EXPECT_THAT(set("evaluation_config.minimum_detection_ground_truth_overlap[mask]=0.75"), IsEmpty());
  const auto& mask = spec_.postprocessing_config().target_class_config().at("mask");
  EXPECT_EQ(mask.clustering_config().dbscan_eps(), 0.3f);
  EXPECT_EQ(mask.clustering_config().coverage_threshold(), 0.005f);
  EXPECT_EQ(spec_.cost_function_config().target_classes(1).class_weight(), 8.0f);
  EXPECT_EQ(spec_.cost_function_config().target_classes(0).objectives(1).weight_target(), 3.0f);
  EXPECT_EQ(spec_.evaluation_config().minimum_detection_ground_truth_overlap().at("mask"), 0.75f);
  EXPECT_EQ(spec_.evaluation_config().minimum_detection_ground_truth_overlap_size(), 2);
}

TEST_F(SetField, MakesAMapEntryThatIsNotThere) {
  EXPECT_THAT(set("dataset_config.target_class_mapping[face]=mask"), IsEmpty());
  EXPECT_THAT(set("bbox_rasterizer_config.target_class_config[face].cov_radius_x=0.5"), IsEmpty());
  EXPECT_EQ(spec_.dataset_config().target_class_mapping().at("face"), "mask");
  EXPECT_EQ(spec_.bbox_rasterizer_config().target_class_config().at("face").cov_radius_x(), 0.5f);
}

TEST_F(SetField, ListsAreReplacedAndSectionsMerged) {
  EXPECT_THAT(set("model_config.freeze_blocks=[0, 1]"), IsEmpty());
  EXPECT_THAT(set("model_config.freeze_blocks=[2]"), IsEmpty());
  EXPECT_THAT(set("training_config.regularizer={type: L2}"), IsEmpty());
  ASSERT_EQ(spec_.model_config().freeze_blocks_size(), 1);
  EXPECT_EQ(spec_.model_config().freeze_blocks(0), 2.0f);
  EXPECT_EQ(spec_.training_config().regularizer().type(), RegularizerConfig::L2);
  EXPECT_EQ(spec_.training_config().regularizer().weight(), 3e-9f);
}

TEST_F(SetField, AnotherScheduleReplacesTheOldOne) {
  EXPECT_THAT(set("training_config.learning_rate.warmup_cosine_schedule.max_learning_rate=0.01"), IsEmpty());
  EXPECT_FALSE(spec_.training_config().learning_rate().has_soft_start_annealing_schedule());
}

TEST_F(SetField, WrongValuesAreNamedWithTheOption) {
  EXPECT_THAT(
      set("training_config.num_epochs=many"),
      ElementsAre("--set training_config.num_epochs=many: training_config.num_epochs: many is not a whole "
                  "number; allowed: a whole number, above 0"));
  EXPECT_THAT(set("training_config.precision=fp8"),
              ElementsAre(HasSubstr("precision has no value fp8; allowed: FP32, BF16, FP16")));
  EXPECT_THAT(set("training_config.num_epochs="), ElementsAre(HasSubstr("expected a value for num_epochs")));
  EXPECT_THAT(
      set("training_config.regularizer={typ: L2}"),
      ElementsAre(HasSubstr("training_config.regularizer.typ: unknown field in regularizer; did you mean "
                            "type?")));
}

TEST_F(SetField, WrongPathsAreNamedWithTheRemedy) {
  EXPECT_THAT(set("training_config.num_epoch=5"), ElementsAre(HasSubstr("did you mean num_epochs?")));
  EXPECT_THAT(set("num_epochs=5"), ElementsAre(HasSubstr("it belongs into training_config")));
  EXPECT_THAT(set("training_config"), ElementsAre(HasSubstr("no value; write PATH=VALUE")));
  EXPECT_THAT(set("training_config.num_epochs.x=5"), ElementsAre(HasSubstr("num_epochs is no section")));
  EXPECT_THAT(set("postprocessing_config.target_class_config.clustering_config={}"),
              ElementsAre(HasSubstr("target_class_config has several entries")));
  EXPECT_THAT(set("cost_function_config.target_classes[nomask].class_weight=8"),
              ElementsAre(HasSubstr("no entry nomask among 2; did you mean no-mask?")));
  EXPECT_THAT(set("cost_function_config.target_classes[7].class_weight=8"),
              ElementsAre(HasSubstr("no entry 7")));
  EXPECT_THAT(set("model_config[0].arch=vgg"), ElementsAre(HasSubstr("leave [0] out")));
  EXPECT_THAT(set("model_config.freeze_blocks[0]=1"),
              ElementsAre(HasSubstr("freeze_blocks is set as a whole")));
  EXPECT_THAT(set("dataset_config.target_class_mapping=mask"),
              ElementsAre(HasSubstr("target_class_mapping[KEY]=VALUE")));
}

TEST_F(SetField, AFailureLeavesTheSpecAsItWas) {
  const std::string before = to_text(spec_);
  set("bbox_rasterizer_config.target_class_config[new].cov_radius_x=x");
  set("training_config.regularizer={type: L2 weight: x}");
  set("training_config.learning_rate.warmup_cosine_schedule.max_learning_rat=1");
  EXPECT_EQ(to_text(spec_), before);
}

TEST_F(SetField, ARangeErrorLaterPointsToTheOption) {
  EXPECT_THAT(set("training_config.num_epochs=0"), IsEmpty());
  const base::Findings findings = check(spec_, source_, {.data_from_elsewhere = true});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(base::to_string(findings[0]),
              HasSubstr("--set training_config.num_epochs=0: training_config.num_epochs: 0 "
                        "is out of range"));
}

}  // namespace
}  // namespace maskfit::spec
