#include "train/build_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "network/model_file.h"
#include "tests/support/temp_dir.h"
#include "train/run_request.h"

namespace maskfit::train {
namespace {
using testing::Contains;
using testing::HasSubstr;

spec::Experiment experiment(const std::vector<std::string>& classes,
                            const std::vector<std::string>& set = {}) {
  RunRequest request;
  request.recipe = "tlt";
  request.backbone = "resnet10";
  request.size = "64x32";
  request.assignments = set;
  return effective_experiment(request, classes, true);
}

TEST(BuildNetwork, ShapesFollowTheSpec) {
  const network::Network net = build_network(experiment({"mask", "no-mask"}));
  EXPECT_EQ(net.input, (network::Shape{3, 32, 64}));
  const auto shapes = network::infer_shapes(net);
  EXPECT_EQ(shapes.at("output_bbox"), (network::Shape{8, 2, 4}));
  EXPECT_EQ(shapes.at("output_cov"), (network::Shape{2, 2, 4}));
}

TEST(BuildNetwork, WeightsDependOnTheSeedAlone) {
  const auto kernel = [](const spec::Experiment& e) {
    return build_network(e).weights.at("conv1/kernel").values;
  };
  EXPECT_EQ(kernel(experiment({"mask"})), kernel(experiment({"mask"})));
  EXPECT_NE(kernel(experiment({"mask"})), kernel(experiment({"mask"}, {"random_seed=7"})));
  EXPECT_EQ(kernel(experiment({"mask"}, {"random_seed=7"})),
            kernel(experiment({"mask"}, {"random_seed=1", "model_config.init_seed=7"})));
}

TEST(BuildNetwork, PretrainedArraysAreCopiedAndOthersReported) {
  support::TempDir dir;
  network::Model model;
  model.network = build_network(experiment({"face"}, {"random_seed=5"}));
  model.class_names = {"face"};
  model.canvas = "stretch";
  network::write_model(dir / "pretrained.safetensors", model);
  const std::string set = "model_config.pretrained_model_file=" + (dir / "pretrained.safetensors").string();
  PretrainedReport report;
  const network::Network net = build_network(experiment({"mask", "no-mask"}, {set}), &report);
  EXPECT_EQ(net.weights.at("conv1/kernel").values, model.network.weights.at("conv1/kernel").values);
  EXPECT_THAT(report.copied, Contains("conv1/kernel"));
  EXPECT_THAT(report.skipped, Contains(HasSubstr("output_cov/kernel")));
}

TEST(BuildNetwork, APretrainedFileWithoutAnythingThatFitsIsRefused) {
  network::Network from, to;
  to.weights["conv1/kernel"] = {{1}, {0}};
  from.weights["conv1/kernel"] = {{2}, {0, 0}};
  const PretrainedReport report = copy_weights(from, to);
  EXPECT_TRUE(report.copied.empty());
  EXPECT_THAT(report.skipped, Contains(HasSubstr("[1] here, [2] in the file")));
}

TEST(DetectorOptions, PrecisionAndFrozenPartsComeFromTheSpec) {
  spec::Experiment e = experiment({"mask"});
  EXPECT_EQ(detector_options(e, "cpu").precision, model::Precision::kFloat32);
  e.mutable_training_config()->set_precision(spec::TrainingConfig::BF16);
  e.mutable_model_config()->set_freeze_bn(true);
  e.mutable_model_config()->add_freeze_blocks(0);
  e.mutable_model_config()->add_freeze_blocks(1);
  const model::DetectorOptions options = detector_options(e, "cuda:1");
  EXPECT_EQ(options.precision, model::Precision::kBfloat16);
  EXPECT_TRUE(options.freeze_bn);
  EXPECT_THAT(options.freeze_blocks, testing::ElementsAre(0, 1));
  EXPECT_EQ(options.device, "cuda:1");
}

}  // namespace
}  // namespace maskfit::train
