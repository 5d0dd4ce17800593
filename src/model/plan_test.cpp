#include "model/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "network/backbones.h"
#include "network/graph_builder.h"

namespace maskfit::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Steps by node name.
class Named {
 public:
  explicit Named(const network::Network& network, const std::vector<std::string>& frozen = {})
      : network_(network), plan_(make_plan(network, frozen)) {}

  const Step& operator[](const std::string& name) const {
    return plan_.steps[static_cast<std::size_t>(index(name))];
  }
  int index(const std::string& name) const {
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      if (network_.nodes[i].name == name) return static_cast<int>(i);
    }
    throw std::out_of_range(name);
  }
  const Plan& plan() const { return plan_; }

 private:
  const network::Network& network_;
  const Plan plan_;
};

network::Network resnet(bool all_projections = false, bool use_batch_norm = true) {
  network::BackboneOptions options;
  options.backbone = "resnet18";
  options.input = {3, 64, 96};
  options.all_projections = all_projections;
  options.use_batch_norm = use_batch_norm;
  return network::make_detectnet(options);
}

TEST(PlanTest, HeadsRunAsOneConvolutionInFloat32) {
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_THAT(steps["output_bbox"].group, ElementsAre(steps.index("output_bbox"), steps.index("output_cov")));
  EXPECT_TRUE(steps["output_cov"].merged);
  EXPECT_TRUE(steps["output_bbox"].head);
  EXPECT_FALSE(steps["block_4b_conv_2"].head);
  EXPECT_EQ(steps.plan().cov_logits, steps.index("output_cov"));
}

TEST(PlanTest, NormsAreFusedWithTheirReluAndShortcut) {
  const network::Network network = resnet(/*all_projections=*/true);
  const Named steps(network);
  const Fusion& stem = steps["activation_1"].fusion;
  EXPECT_EQ(stem.norm, steps.index("bn_conv1"));
  EXPECT_EQ(stem.other_norm, -1);
  EXPECT_TRUE(stem.relu);
  const Fusion& unit = steps["block_2b_relu"].fusion;
  EXPECT_THAT(
      (std::vector<int>{unit.norm, unit.other_norm}),
      ::testing::UnorderedElementsAre(steps.index("block_2b_bn_2"), steps.index("block_2b_bn_shortcut")));
  EXPECT_TRUE(steps["block_2b_bn_2"].in_fusion);
  EXPECT_FALSE(steps["block_2b_bn_2"].fusion.exists());
}

TEST(PlanTest, AnIdentityShortcutIsFusedAsItIsAndKept) {
  const network::Network network = resnet();
  const Named steps(network);
  const Fusion& unit = steps["block_2b_relu"].fusion;
  EXPECT_EQ(unit.norm, steps.index("block_2b_bn_2"));
  EXPECT_EQ(unit.other, steps.index("block_2a_relu"));
  EXPECT_TRUE(steps["block_2a_relu"].saved);
}

TEST(PlanTest, NormsOfOddChannelsAreNotFused) {
  network::Network network = resnet();
  for (network::Node& node : network.nodes) {
    if (node.name == "block_2a_conv_1") node.out_channels = 60;
  }
  const Named steps(network);
  EXPECT_FALSE(steps["block_2a_relu_1"].fusion.exists());
  EXPECT_FALSE(steps["block_2a_bn_1"].in_fusion);
  EXPECT_TRUE(steps["block_2a_relu"].fusion.exists());
}

TEST(PlanTest, TheFirstConvolutionIsAStemWhereThePictureCanBeFolded) {
  network::Network network = resnet();
  EXPECT_TRUE(Named(network)["conv1"].stem);
  EXPECT_FALSE(Named(network)["block_1a_conv_1"].stem);
  network.input = {3, 63, 96};
  EXPECT_FALSE(Named(network)["conv1"].stem);
}

TEST(PlanTest, HeadsOfUnlikeWindowsStaySeparate) {
  network::Network network = resnet();
  for (network::Node& node : network.nodes) {
    if (node.name != "output_cov") continue;
    node.kernel = 3;
    node.padding = 1;
  }
  const Named steps(network);
  EXPECT_FALSE(steps["output_cov"].merged);
  EXPECT_EQ(steps["output_bbox"].group.size(), 1u);
}

TEST(PlanTest, BiasUnderABatchNormIsLeftToIt) {
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_TRUE(steps["block_1a_conv_1"].bias_in_batch_norm);
  EXPECT_EQ(steps["block_1a_bn_1"].conv, steps.index("block_1a_conv_1"));
  EXPECT_FALSE(steps["output_bbox"].bias_in_batch_norm);
  EXPECT_FALSE(Named(resnet(false, false))["conv1"].bias_in_batch_norm);
}

TEST(PlanTest, BiasStaysWhenSomebodyElseReadsTheConvolution) {
  network::Network network = resnet();
  for (network::Node& node : network.nodes) {
    if (node.name == "block_1a_relu_1") node.inputs = {"block_1a_conv_1"};
  }
  const Named steps(network);
  EXPECT_FALSE(steps["block_1a_conv_1"].bias_in_batch_norm);
  EXPECT_EQ(steps["block_1a_bn_1"].conv, -1);
}

TEST(PlanTest, ReluAndAddOverwriteBatchNormsOutput) {
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_TRUE(steps["activation_1"].in_place);
  EXPECT_TRUE(steps["add_1"].in_place);
  EXPECT_TRUE(steps["block_1a_relu"].in_place);
}

TEST(PlanTest, AddDoesNotOverwriteAShortcutThatOthersRead) {
  // add_2 = block_1b_bn_2 + block_1a_relu: the second is the saved input of a convolution and a ReLU's own
  // result.
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_TRUE(steps["add_2"].in_place);
  EXPECT_EQ(steps["add_2"].inputs[0], steps.index("block_1b_bn_2"));
}

TEST(PlanTest, AddTakesWhicheverBufferItMay) {
  network::Network network = resnet();
  for (network::Node& node : network.nodes) {
    if (node.name == "add_2") std::swap(node.inputs[0], node.inputs[1]);
  }
  const Named steps(network);
  EXPECT_TRUE(steps["add_2"].in_place);
  EXPECT_EQ(steps["add_2"].inputs[0], steps.index("block_1b_bn_2"));
}

TEST(PlanTest, BackwardNeedsConvolutionAndNormInputsAndReluResults) {
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_TRUE(steps["input_1"].saved);
  EXPECT_TRUE(steps["conv1"].saved);
  EXPECT_FALSE(steps["bn_conv1"].saved);
  EXPECT_TRUE(steps["activation_1"].saved);
  EXPECT_FALSE(steps["add_1"].saved);
  EXPECT_TRUE(steps["block_4b_relu"].saved);
}

TEST(PlanTest, NoGradientFlowsToPicturesNorBelowTheLastTrainableArray) {
  const network::Network network = resnet(false, false);
  const Named all(network);
  EXPECT_FALSE(all["input_1"].needs_gradient);
  EXPECT_TRUE(all["conv1"].needs_gradient);
  const Named frozen(network, {"conv1", "block_1a_conv_1", "block_1a_conv_2", "block_1a_conv_shortcut"});
  EXPECT_FALSE(frozen["conv1"].needs_gradient);
  EXPECT_FALSE(frozen["block_1a_relu"].needs_gradient);
  EXPECT_TRUE(frozen["block_1b_relu_1"].needs_gradient);
  EXPECT_FALSE(frozen["conv1"].saved);
}

TEST(PlanTest, EveryValueIsReleasedAfterItsLastReader) {
  const network::Network network = resnet();
  const Named steps(network);
  EXPECT_THAT(steps["bn_conv1"].last_use, ElementsAre(steps.index("conv1")));
  EXPECT_THAT(steps["block_1a_conv_1"].last_use, ElementsAre());  // the shortcut reads activation_1 later
  EXPECT_THAT(steps["block_1a_conv_shortcut"].last_use, ElementsAre(steps.index("activation_1")));
  EXPECT_THAT(steps["output_cov/Sigmoid"].last_use, ElementsAre());  // the logits are an output
}

TEST(PlanTest, NetworksThatAreNoDetectorAreRefused) {
  network::Network network = resnet();
  network.outputs = {"output_bbox", "output_cov"};
  EXPECT_THROW(make_plan(network), base::CheckFailed);
  network.outputs = {"output_bbox"};
  EXPECT_THROW(make_plan(network), base::CheckFailed);
  EXPECT_THROW(make_plan(resnet(), {"no_such_node"}), base::CheckFailed);
}

TEST(PlanTest, SigmoidInsideTheNetworkIsRefused) {
  network::Network network = resnet();
  for (network::Node& node : network.nodes) {
    if (node.name == "block_1a_relu") node.op = network::Op::kSigmoid;
  }
  try {
    make_plan(network);
    FAIL();
  } catch (const base::CheckFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("'block_1a_relu'"));
  }
}

}  // namespace
}  // namespace maskfit::model
