#include "train/finished_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/build_network.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {

spec::Experiment experiment(const std::vector<std::string>& assignments = {}) {
  RunRequest request;
  request.recipe = "tlt";
  request.backbone = "resnet10";
  request.size = "64x32";
  request.assignments = assignments;
  return effective_experiment(request, {"mask", "no-mask"}, true);
}

TEST(FinishedModel, CarriesWhatIsNeededToRunIt) {
  const spec::Experiment e = experiment({"model_config.objective_set.bbox.scale=20"});
  const network::Model model =
      finished_model(build_network(e), e, {.data_digest = "abc", .epoch = 7, .step = 70});
  EXPECT_EQ(model.class_names, (std::vector<std::string>{"mask", "no-mask"}));
  EXPECT_EQ(model.canvas, "stretch");
  EXPECT_EQ(model.box_scale, 20);
  EXPECT_EQ(model.provenance.at("data_digest"), "abc");
  EXPECT_EQ(model.provenance.at("epoch"), "7");
  EXPECT_FALSE(model.provenance.contains("map")) << "these weights were not validated";
}

TEST(FinishedModel, FiguresAndThresholdsComeFromItsValidation) {
  const spec::Experiment e = experiment();
  evaluate::Evaluation evaluation;
  evaluation.map = 0.75;
  evaluation.classes.resize(2);
  evaluation.classes[0].name = "mask";
  evaluation.classes[0].curve = {{0.5f, 1, 1}};
  evaluation.classes[1].name = "no-mask";
  const network::Model model = finished_model(build_network(e), e, {.evaluation = &evaluation});
  EXPECT_EQ(model.provenance.at("map"), "0.75");
  EXPECT_EQ(model.provenance.at(network::confidence_threshold_key("mask")), "0.5");
}

// What a spec switches off must not come back from the recipe that its text is laid over.
TEST(FinishedModel, TheSpecComesBackWithItsZeros) {
  const spec::Experiment e = experiment({"cost_function_config.enable_autoweighting=false",
                                         "augmentation_config.spatial_augmentation.hflip_probability=0",
                                         "augmentation_config.preprocessing.enable_auto_resize=false"});
  const network::Model model = finished_model(build_network(e), e, {});
  EXPECT_EQ(experiment_of(model, "test").DebugString(), e.DebugString());
}

// What belongs to the weights is read from the file, not from the spec in its provenance.
TEST(FinishedModel, TheModelFileOverrulesItsSpec) {
  const spec::Experiment e = experiment();
  network::Model model = finished_model(build_network(e), e, {});
  model.network.input = {3, 64, 128};
  model.box_scale = 20;
  model.postprocessing =
      "target_class_config { key: \"mask\" value { clustering_config { coverage_threshold: 0.5 } } }";
  const spec::Experiment read = experiment_of(model, "test");
  EXPECT_EQ(read.augmentation_config().preprocessing().output_image_width(), 128u);
  EXPECT_EQ(read.augmentation_config().preprocessing().output_image_height(), 64u);
  EXPECT_EQ(box_coding(read).scale, 20);
  EXPECT_EQ(read.postprocessing_config().target_class_config_size(), 1);
}

TEST(FinishedModel, WithoutASpecTheHintNamesTheOption) {
  try {
    experiment_of({}, "model.safetensors");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_NE(error.hint().find("--spec"), std::string::npos);
  }
}

}  // namespace
}  // namespace maskfit::train
