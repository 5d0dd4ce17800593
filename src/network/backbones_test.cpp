#include "network/backbones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace maskfit::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BackboneOptions options(const std::string& backbone, bool all_projections = false) {
  BackboneOptions result;
  result.backbone = backbone;
  result.all_projections = all_projections;
  result.classes = 2;
  return result;
}

std::set<std::string> node_names(const Network& network) {
  std::set<std::string> names;
  for (const Node& node : network.nodes) names.insert(node.name);
  return names;
}

base::Error refusal(const BackboneOptions& bad) {
  try {
    make_detectnet(bad);
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

TEST(BackbonesTest, EveryBackboneAndNeckHasSoundShapesAndWeights) {
  std::vector<std::string> necks = neck_names();
  necks.emplace_back();
  for (const std::string& backbone : backbone_names()) {
    for (const std::string& neck : necks) {
      for (const bool projections : {false, true}) {
        SCOPED_TRACE(backbone + " " + neck);
        BackboneOptions wanted = options(backbone, projections);
        wanted.neck = neck;
        wanted.input = {3, 96, 160};
        const Network network = make_detectnet(wanted);
        EXPECT_NO_THROW(check_weights(network));
        const int stride = neck.empty() ? 16 : 8;
        ASSERT_THAT(network.outputs, ElementsAre("output_bbox", "output_cov/Sigmoid"));
        const auto shapes = infer_shapes(network);
        EXPECT_EQ(shapes.at("output_bbox"), (Shape{8, 96 / stride, 160 / stride}));
        EXPECT_EQ(shapes.at("output_cov/Sigmoid"), (Shape{2, 96 / stride, 160 / stride}));
      }
    }
  }
}

TEST(BackbonesTest, Resnet18HasTheLayersOfTheReferenceTable) {
  const Network network = make_detectnet(options("resnet18", true));
  const auto shapes = infer_shapes(network);
  struct Row {
    const char* conv;
    const char* bn;
    int stride, padding;
    Shape out;
  };
  const Row rows[] = {
      {"conv1", "bn_conv1", 2, 3, {64, 272, 480}},
      {"block_1a_conv_1", "block_1a_bn_1", 2, 1, {64, 136, 240}},
      {"block_1a_conv_2", "block_1a_bn_2", 1, 1, {64, 136, 240}},
      {"block_1a_conv_shortcut", "block_1a_bn_shortcut", 2, 0, {64, 136, 240}},
      {"block_1b_conv_shortcut", "block_1b_bn_shortcut", 1, 0, {64, 136, 240}},
      {"block_2a_conv_1", "block_2a_bn_1", 2, 1, {128, 68, 120}},
      {"block_3a_conv_shortcut", "block_3a_bn_shortcut", 2, 0, {256, 34, 60}},
      {"block_4a_conv_1", "block_4a_bn_1", 1, 1, {512, 34, 60}},
      {"block_4b_conv_2", "block_4b_bn_2", 1, 1, {512, 34, 60}},
      {"block_4b_conv_shortcut", "block_4b_bn_shortcut", 1, 0, {512, 34, 60}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.conv);
    const Node& conv = network.node(row.conv);
    EXPECT_EQ(conv.stride, row.stride);
    EXPECT_EQ(conv.padding, row.padding);
    EXPECT_TRUE(conv.bias);
    EXPECT_EQ(shapes.at(row.conv), row.out);
    EXPECT_THAT(network.node(row.bn).inputs, ElementsAre(row.conv));
  }
  EXPECT_EQ(shapes.at("output_bbox"), (Shape{8, 34, 60}));
}

TEST(BackbonesTest, UnitWiringAndUnnamedLayers) {
  const Network network = make_detectnet(options("resnet18"));
  EXPECT_THAT(network.node("activation_1").inputs, ElementsAre("bn_conv1"));
  EXPECT_THAT(network.node("block_1a_relu_1").inputs, ElementsAre("block_1a_bn_1"));
  EXPECT_THAT(network.node("add_1").inputs, ElementsAre("block_1a_bn_2", "block_1a_bn_shortcut"));
  EXPECT_THAT(network.node("block_1a_relu").inputs, ElementsAre("add_1"));
  // The second unit's shortcut is the identity.
  EXPECT_THAT(network.node("add_2").inputs, ElementsAre("block_1b_bn_2", "block_1a_relu"));
  EXPECT_THAT(network.node("output_cov").inputs, ElementsAre("block_4b_relu"));
}

TEST(BackbonesTest, ProjectionsOnFirstUnitsOnlyUnlessAllAreAsked) {
  const auto classic = node_names(make_detectnet(options("resnet34")));
  EXPECT_TRUE(classic.contains("block_4a_conv_shortcut"));
  EXPECT_FALSE(classic.contains("block_4b_conv_shortcut"));
  const auto all = node_names(make_detectnet(options("resnet34", true)));
  EXPECT_TRUE(all.contains("block_3f_conv_shortcut"));
}

TEST(BackbonesTest, WidthScalesTheChannelsAndNothingElse) {
  BackboneOptions wanted{.backbone = "resnet10", .input = {3, 64, 64}, .classes = 2};
  const auto full = infer_shapes(make_detectnet(wanted));
  wanted.width = 0.25f;
  const Network narrow = make_detectnet(wanted);
  const auto shapes = infer_shapes(narrow);
  EXPECT_EQ(shapes.at("activation_1").channels, 16);
  EXPECT_EQ(shapes.at("block_4a_relu").channels, 128);
  EXPECT_EQ(shapes.at("output_bbox"), full.at("output_bbox"));
  EXPECT_EQ(narrow.name, "resnet10_nopool_bn_w0.25_detectnet_v2");
}

TEST(BackbonesTest, BottleneckStridesOnItsFirstConvolution) {
  const Network network = make_detectnet(options("resnet50"));
  EXPECT_EQ(network.node("block_2a_conv_1").stride, 2);
  EXPECT_EQ(network.node("block_2a_conv_2").stride, 1);
  EXPECT_EQ(network.node("block_2a_conv_1").kernel, 1);
  EXPECT_EQ(network.node("block_2a_conv_2").kernel, 3);
  EXPECT_EQ(network.node("block_2a_conv_3").out_channels, 512);
  EXPECT_EQ(infer_shapes(network).at("block_4c_relu"), (Shape{2048, 34, 60}));
}

TEST(BackbonesTest, NamesSayWhatWasBuilt) {
  BackboneOptions wanted = options("resnet18");
  EXPECT_EQ(make_detectnet(wanted).name, "resnet18_nopool_bn_detectnet_v2");
  wanted.use_batch_norm = false;
  const Network plain = make_detectnet(wanted);
  EXPECT_EQ(plain.name, "resnet18_nopool_detectnet_v2");
  EXPECT_THAT(plain.node("activation_1").inputs, ElementsAre("conv1"));
  EXPECT_FALSE(node_names(plain).contains("bn_conv1"));
}

TEST(BackbonesTest, Fpn8JoinsBlock4AndBlock2) {
  BackboneOptions wanted = options("resnet18");
  wanted.neck = "fpn8";
  const Network network = make_detectnet(wanted);
  EXPECT_THAT(network.node("neck_conv_top").inputs, ElementsAre("block_4b_relu"));
  EXPECT_THAT(network.node("neck_conv_lateral").inputs, ElementsAre("block_2b_relu"));
  EXPECT_THAT(network.node("output_bbox").inputs, ElementsAre("neck_relu"));
  EXPECT_EQ(network.name, "resnet18_nopool_bn_fpn8_detectnet_v2");
}

TEST(BackbonesTest, UnknownBackboneNamesTheNearest) {
  const base::Error error = refusal(options("resnet-18"));
  EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("'resnet-18'"));
  EXPECT_THAT(error.hint(), HasSubstr("'resnet18'"));
}

TEST(BackbonesTest, UnlikeNameListsAllNames) {
  BackboneOptions bad = options("yolo");
  EXPECT_THAT(refusal(bad).hint(), HasSubstr("resnet10, resnet18, resnet34, resnet50"));
  bad = options("resnet18");
  bad.neck = "giraffe";
  EXPECT_THAT(refusal(bad).hint(), HasSubstr("fpn8"));
}

TEST(BackbonesTest, PoolingIsRefusedBecauseItsStrideIs224) {
  BackboneOptions bad = options("resnet18");
  bad.use_pooling = true;
  EXPECT_THAT(refusal(bad).what(), HasSubstr("224"));
}

TEST(BackbonesTest, SizeThatIsNoMultipleOf16ProposesOne) {
  BackboneOptions bad = options("resnet18");
  bad.input = {3, 540, 960};
  EXPECT_THAT(refusal(bad).hint(), HasSubstr("960x544"));
  bad.input = {3, 544, -960};
  EXPECT_EQ(refusal(bad).code(), base::ExitCode::kRefused);
}

TEST(BackbonesTest, NoClassAndOddChannelsAreRefused) {
  BackboneOptions bad = options("resnet18");
  bad.classes = 0;
  EXPECT_THAT(refusal(bad).what(), HasSubstr("at least one class"));
  bad = options("resnet18");
  bad.input.channels = 4;
  EXPECT_THAT(refusal(bad).what(), HasSubstr("4 channels"));
}

TEST(BackbonesTest, BlockNumbersOfFreezeBlocks) {
  EXPECT_EQ(block_of("conv1"), 0);
  EXPECT_EQ(block_of("block_1a_conv_1"), 1);
  EXPECT_EQ(block_of("block_4b_conv_shortcut"), 4);
  EXPECT_EQ(block_of("block_12a_conv_1"), 12);
  EXPECT_EQ(block_of("output_cov"), -1);
  EXPECT_EQ(block_of("block_x"), -1);
}

TEST(InitialiseTest, GlorotLimitsAndConstants) {
  BackboneOptions wanted = options("resnet10");
  wanted.input = {3, 32, 32};
  Network network = make_detectnet(wanted);
  initialise(network, 7);
  const Array& kernel = network.weights.at("block_2a_conv_1/kernel");
  const float limit = std::sqrt(6.0f / (9.0f * (64 + 128)));
  const auto [low, high] = std::minmax_element(kernel.values.begin(), kernel.values.end());
  EXPECT_GE(*low, -limit);
  EXPECT_LE(*high, limit);
  EXPECT_LT(*low, -0.99f * limit);
  EXPECT_GT(*high, 0.99f * limit);
  double squares = 0;
  for (const float v : kernel.values) squares += static_cast<double>(v) * v;
  EXPECT_NEAR(squares / static_cast<double>(kernel.size()), limit * limit / 3, 0.02 * limit * limit / 3);
  EXPECT_EQ(network.weights.at("conv1/bias").values, std::vector<float>(64, 0.0f));
  EXPECT_EQ(network.weights.at("bn_conv1/gamma").values, std::vector<float>(64, 1.0f));
  EXPECT_EQ(network.weights.at("bn_conv1/beta").values, std::vector<float>(64, 0.0f));
  EXPECT_EQ(network.weights.at("bn_conv1/moving_mean").values, std::vector<float>(64, 0.0f));
  EXPECT_EQ(network.weights.at("bn_conv1/moving_variance").values, std::vector<float>(64, 1.0f));
}

TEST(InitialiseTest, AWeightDependsOnSeedAndNameAlone) {
  BackboneOptions small = options("resnet10"), large = options("resnet18");
  small.input = large.input = {3, 32, 32};
  Network a = make_detectnet(small), b = make_detectnet(large), c = make_detectnet(small);
  initialise(a, 7);
  initialise(b, 7);
  initialise(c, 8);
  EXPECT_EQ(a.weights.at("block_3a_conv_1/kernel"), b.weights.at("block_3a_conv_1/kernel"));
  EXPECT_NE(a.weights.at("block_3a_conv_1/kernel"), c.weights.at("block_3a_conv_1/kernel"));
  EXPECT_NE(a.weights.at("block_4a_conv_2/kernel").values, b.weights.at("block_4b_conv_2/kernel").values);
}

TEST(InitialiseTest, CoveragePriorIsTheLogitOfTheProbability) {
  BackboneOptions wanted = options("resnet10");
  wanted.input = {3, 32, 32};
  Network network = make_detectnet(wanted);
  set_coverage_prior(network, 0.01f);
  for (const float bias : network.weights.at("output_cov/bias").values) EXPECT_NEAR(bias, -4.59512f, 1e-4);
  EXPECT_THROW(set_coverage_prior(network, 1.0f), base::CheckFailed);
}

}  // namespace
}  // namespace maskfit::network
