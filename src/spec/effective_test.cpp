// Defaults, recipes and the text of the effective spec.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/check.h"
#include "spec/defaults.h"
#include "spec/load.h"
#include "spec/print.h"
#include "spec/recipes.h"

namespace maskfit::spec {
namespace {

using testing::HasSubstr;
using testing::Not;

Experiment effective(std::string_view text) {
  auto loaded = read_experiment(text, "t");
  EXPECT_TRUE(loaded.findings.empty());
  apply_defaults(&loaded.spec);
  return loaded.spec;
}

TEST(ApplyDefaults, FillsWhatTheReferenceSubstitutesForZero) {
  const Experiment spec = effective(
      "dataset_config { data_sources { tfrecords_path: \"t\" } } model_config { num_layers: 0 } "
      "training_config { "
      "visualizer { } } augmentation_config { spatial_augmentation { } }");
  EXPECT_EQ(spec.dataset_config().data_sources(0).source_weight(), 1.0f);
  EXPECT_EQ(spec.model_config().num_layers(), 18);
  EXPECT_EQ(spec.model_config().arch(), "resnet");
  EXPECT_EQ(spec.training_config().checkpoint_interval(), 10u);
  EXPECT_EQ(spec.training_config().visualizer().scalar_logging_frequency(), 10u);
  EXPECT_EQ(spec.augmentation_config().spatial_augmentation().rotate_probability(), 1.0f);
}

TEST(ApplyDefaults, KeepsAnExplicitZeroWhereZeroIsAValue) {
  EXPECT_EQ(effective("cost_function_config { focal_gamma: 0 }").cost_function_config().focal_gamma(), 0.0f);
  EXPECT_EQ(effective("cost_function_config { }").cost_function_config().focal_gamma(), 2.0f);
}

TEST(ApplyDefaults, ReachesListsAndMaps) {
  auto loaded = read_inference(
      "bbox_handler_config { classwise_bbox_handler_config { key: \"m\" value { } } } inferencer_config { }",
      "i");
  apply_defaults(&loaded.spec);
  const auto& entry = loaded.spec.bbox_handler_config().classwise_bbox_handler_config().at("m");
  EXPECT_EQ(entry.confidence_model(), "aggregate_cov");
  EXPECT_EQ(loaded.spec.inferencer_config().stride(), 16);
}

TEST(ApplyDefaults, MakesNoSectionThatHasNoDefault) {
  const Experiment spec = effective("random_seed: 1");
  EXPECT_FALSE(spec.has_model_config());
  EXPECT_FALSE(spec.has_training_config());
}

TEST(ApplyDefaults, Tlt2ConfidenceThresholdMovesIntoTheClustering) {
  auto loaded = read_inference(
      "bbox_handler_config { classwise_bbox_handler_config { key: \"old\" value { confidence_threshold: 0.9 "
      "} } "
      "classwise_bbox_handler_config { key: \"both\" value { confidence_threshold: 0.9 clustering_config { "
      "dbscan_confidence_threshold: 0.5 } } } }",
      "i");
  apply_defaults(&loaded.spec);
  const auto& map = loaded.spec.bbox_handler_config().classwise_bbox_handler_config();
  EXPECT_EQ(map.at("old").clustering_config().dbscan_confidence_threshold(), 0.9f);
  EXPECT_EQ(map.at("old").confidence_threshold(), 0.0f);
  EXPECT_EQ(map.at("both").clustering_config().dbscan_confidence_threshold(), 0.5f);
}

TEST(ApplyDefaults, TheReferencesHalfPrecisionBecomesOurs) {
  const Experiment spec =
      effective("model_config { training_precision { backend_floatx: FLOAT16 } } training_config { }");
  EXPECT_EQ(spec.training_config().precision(), TrainingConfig::FP16);
}

TEST(ToText, CommentsSayUnitAndMeaning) {
  EXPECT_THAT(to_text(effective("training_config { num_epochs: 5 }")),
              HasSubstr("  num_epochs: 5  # epochs. Length of the run\n"));
}

TEST(ToText, FieldsThatDoNothingAreShownOnlyWhenSet) {
  EXPECT_THAT(to_text(effective("model_config { }")), Not(HasSubstr("dropout_rate")));
  EXPECT_THAT(to_text(effective("model_config { dropout_rate: 0.5 }")), HasSubstr("dropout_rate: 0.5"));
}

TEST(ToText, NumbersAreTheShortestThatReadBackTheSame) {
  const std::string text = to_text(effective("bbox_rasterizer_config { deadzone_radius: 0.400000005960464 }"),
                                   {.comments = false, .all_fields = false});
  EXPECT_EQ(text, "bbox_rasterizer_config {\n  deadzone_radius: 0.4\n}\n");
}

TEST(ToText, StringsWithQuotesBackslashesAndLinesReadBack) {
  Experiment spec;
  spec.mutable_model_config()->set_pretrained_model_file("C:\\a \"b\"\n\tü\x01");
  const auto again = read_experiment(to_text(spec), "t");
  EXPECT_TRUE(again.findings.empty());
  EXPECT_EQ(again.spec.model_config().pretrained_model_file(), spec.model_config().pretrained_model_file());
}

TEST(Digest, SeesValuesAndNotTheirSpelling) {
  const Experiment one = effective(
      "dataset_config { target_class_mapping { key: \"b\" value: \"x\" } "
      "target_class_mapping { key: \"a\" value: \"x\" } } model_config { }");
  const Experiment two = effective(
      "# same\nmodel_config: { num_layers: 18 } dataset_config { target_class_mapping { key: 'a' "
      "value: 'x' } target_class_mapping { key: 'b' value: 'x' } }");
  EXPECT_EQ(digest(one), digest(two));
  EXPECT_NE(digest(one), digest(effective("model_config { }")));
  EXPECT_EQ(digest(one).size(), 64u);
}

class Recipes : public testing::TestWithParam<TrainingConfig::Recipe> {};

TEST_P(Recipes, AreCompleteAndValidForAnyClasses) {
  const std::vector<std::vector<std::string>> class_lists = {{"face"}, {"mask", "no-mask", "CLASS"}};
  for (const auto& classes : class_lists) {
    Experiment spec = recipe_experiment(GetParam(), classes);
    for (const base::Finding& finding :
         check(spec, Source(), {.purpose = Purpose::kRun, .data_from_elsewhere = true})) {
      ADD_FAILURE() << base::to_string(finding);
    }
    EXPECT_EQ(spec.cost_function_config().target_classes_size(), static_cast<int>(classes.size()));
    EXPECT_EQ(spec.training_config().recipe(), GetParam());
    for (const std::string& name : classes) {
      EXPECT_EQ(spec.evaluation_config().evaluation_box_config().count(name), 1u);
      EXPECT_EQ(spec.bbox_rasterizer_config().target_class_config().count(name), 1u);
      EXPECT_EQ(spec.postprocessing_config().target_class_config().count(name), 1u);
    }
  }
}

TEST_P(Recipes, OfNoClassesLeaveTheClassesOut) {
  const Experiment spec = recipe_experiment(GetParam(), {});
  EXPECT_THAT(to_text(spec), Not(HasSubstr("CLASS")));
  EXPECT_TRUE(check(spec, Source(), {.data_from_elsewhere = true}).empty());
}

INSTANTIATE_TEST_SUITE_P(Both, Recipes, testing::Values(TrainingConfig::TLT, TrainingConfig::SCRATCH),
                         [](const auto& of) { return TrainingConfig::Recipe_Name(of.param); });

}  // namespace
}  // namespace maskfit::spec
