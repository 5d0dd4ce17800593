#include "network/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "network/graph_builder.h"

namespace maskfit::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// input -> conv 3x3/2 (4) -> bn -> relu -> conv 1x1 (2, no bias)
Network small() {
  GraphBuilder graph({3, 10, 13});
  std::string x = graph.conv("c1", graph.input(), {.out_channels = 4, .kernel = 3, .stride = 2});
  x = graph.relu("r1", graph.batch_norm("b1", x));
  x = graph.conv("c2", x, {.out_channels = 2, .kernel = 1, .bias = false});
  return graph.finish("small", {x});
}

template <typename Body>
std::string check_message(Body body) {
  try {
    body();
  } catch (const base::CheckFailed& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(NetworkTest, ShapesFollowWindowArithmetic) {
  const auto shapes = infer_shapes(small());
  EXPECT_EQ(shapes.at("c1"), (Shape{4, 5, 7}));
  EXPECT_EQ(shapes.at("r1"), (Shape{4, 5, 7}));
  EXPECT_EQ(shapes.at("c2"), (Shape{2, 5, 7}));
}

TEST(NetworkTest, Stride2HalvesTheReferenceSizes) {
  EXPECT_EQ(window_count(544, 7, 2, same_padding(7)), 272);
  EXPECT_EQ(window_count(960, 7, 2, same_padding(7)), 480);
  EXPECT_EQ(window_count(272, 3, 2, same_padding(3)), 136);
  EXPECT_EQ(window_count(272, 1, 2, same_padding(1)), 136);
}

TEST(NetworkTest, DilationWidensPaddingAndWindow) {
  EXPECT_EQ(same_padding(3, 2), 2);
  EXPECT_EQ(window_count(9, 3, 1, same_padding(3, 2), 2), 9);
}

TEST(NetworkTest, PoolUpsampleAndAdd) {
  Network network = small();
  network.nodes.push_back(
      {.name = "pool", .op = Op::kMaxPool, .inputs = {"r1"}, .kernel = 3, .stride = 2, .padding = 1});
  network.nodes.push_back({.name = "up", .op = Op::kUpsample, .inputs = {"pool"}, .factor = 2});
  network.nodes.push_back({.name = "sum", .op = Op::kAdd, .inputs = {"up", "up", "up"}});
  const auto shapes = infer_shapes(network);
  EXPECT_EQ(shapes.at("pool"), (Shape{4, 3, 4}));
  EXPECT_EQ(shapes.at("sum"), (Shape{4, 6, 8}));
}

TEST(NetworkTest, DepthwiseHasAFilterAChannelAndConcatAddsChannels) {
  GraphBuilder graph({3, 8, 8});
  const std::string a = graph.conv("a", graph.input(), {.out_channels = 6, .kernel = 1});
  const std::string dw = graph.depthwise("dw", a, {.kernel = 3, .bias = false});
  const std::string joined = graph.concat("joined", {a, dw, graph.max_pool("pool", a, 3, 1)});
  const Network network = graph.finish("n", {joined});
  EXPECT_EQ(infer_shapes(network).at("dw"), (Shape{6, 8, 8}));
  EXPECT_EQ(infer_shapes(network).at("joined"), (Shape{18, 8, 8}));
  EXPECT_THAT(network.weights.at("dw/kernel").shape, ElementsAre(6, 1, 3, 3));
  EXPECT_EQ(count(network).macs, 64 * (3 * 6 + 6 * 9));
}

TEST(NetworkTest, ConcatOfUnequalSizesNamesTheNodeAndBothShapes) {
  GraphBuilder graph({3, 8, 8});
  const std::string a = graph.conv("a", graph.input(), {.out_channels = 2, .kernel = 1});
  const std::string b = graph.max_pool("b", a, 2, 2);
  graph.concat("joined", {a, b});
  EXPECT_THAT(check_message([&] { graph.finish("n", {"joined"}); }),
              testing::AllOf(HasSubstr("joined"), HasSubstr("2x8x8"), HasSubstr("2x4x4")));
}

TEST(NetworkTest, AddOfUnequalShapesNamesTheNodeAndBothShapes) {
  Network network = small();
  network.nodes.push_back({.name = "sum", .op = Op::kAdd, .inputs = {"c1", "c2"}});
  const std::string message = check_message([&] { infer_shapes(network); });
  EXPECT_THAT(message, HasSubstr("'sum'"));
  EXPECT_THAT(message, HasSubstr("4x5x7"));
  EXPECT_THAT(message, HasSubstr("2x5x7"));
}

TEST(NetworkTest, InputThatComesLaterIsRefused) {
  Network network = small();
  std::swap(network.nodes[1], network.nodes[2]);
  EXPECT_THAT(check_message([&] { infer_shapes(network); }), HasSubstr("no earlier node"));
}

TEST(NetworkTest, TwoNodesOfOneNameAreRefused) {
  Network network = small();
  network.nodes.push_back({.name = "r1", .op = Op::kRelu, .inputs = {"c2"}});
  EXPECT_THAT(check_message([&] { infer_shapes(network); }), HasSubstr("two nodes are called 'r1'"));
}

TEST(NetworkTest, WindowLargerThanThePaddedInputIsRefused) {
  Network network = small();
  network.nodes.push_back({.name = "big", .op = Op::kConv, .inputs = {"c2"}, .out_channels = 1, .kernel = 9});
  EXPECT_THAT(check_message([&] { infer_shapes(network); }), HasSubstr("'big'"));
}

TEST(NetworkTest, UnknownOutputAndUnknownNodeAreRefused) {
  Network network = small();
  network.outputs = {"nothing"};
  EXPECT_THAT(check_message([&] { infer_shapes(network); }), HasSubstr("'nothing'"));
  EXPECT_THAT(check_message([&] { network.node("nobody"); }), HasSubstr("'nobody'"));
  EXPECT_EQ(network.node("c2").out_channels, 2);
}

TEST(NetworkTest, SlotsAreInNodeOrderWithShapes) {
  std::vector<std::string> names;
  for (const WeightSlot& slot : weight_slots(small())) names.push_back(slot.name);
  EXPECT_THAT(names, ElementsAre("c1/kernel", "c1/bias", "b1/gamma", "b1/beta", "b1/moving_mean",
                                 "b1/moving_variance", "c2/kernel"));
  const WeightSlot kernel = weight_slots(small())[0];
  EXPECT_THAT(kernel.shape, ElementsAre(4, 3, 3, 3));
  EXPECT_TRUE(kernel.trainable);
  EXPECT_FALSE(weight_slots(small())[4].trainable);
}

TEST(NetworkTest, CountsParametersAndMultiplications) {
  const Counts counts = count(small());
  EXPECT_EQ(counts.trainable, 4 * 3 * 9 + 4 + 2 * 4 + 2 * 4);
  EXPECT_EQ(counts.non_trainable, 2 * 4);
  EXPECT_EQ(counts.macs, (4 * 3 * 9 + 2 * 4) * 5 * 7);
}

TEST(NetworkTest, CompleteWeightsPassTheCheck) {
  EXPECT_NO_THROW(check_weights(small()));
}

TEST(NetworkTest, MissingArrayIsNamed) {
  Network network = small();
  network.weights.erase("b1/beta");
  EXPECT_THAT(check_message([&] { check_weights(network); }), HasSubstr("'b1/beta' is missing"));
}

TEST(NetworkTest, ArrayOfAnotherShapeIsNamedWithBothShapes) {
  Network network = small();
  network.weights.at("c1/kernel").shape = {4, 3, 9, 1};
  const std::string message = check_message([&] { check_weights(network); });
  EXPECT_THAT(message, HasSubstr("[4,3,9,1]"));
  EXPECT_THAT(message, HasSubstr("[4,3,3,3]"));
}

TEST(NetworkTest, ArrayWithTooFewValuesIsNamed) {
  Network network = small();
  network.weights.at("c1/bias").values.pop_back();
  EXPECT_THAT(check_message([&] { check_weights(network); }), HasSubstr("'c1/bias' has 3 values for 4"));
}

TEST(NetworkTest, ArrayOfNoNodeIsNamed) {
  Network network = small();
  network.weights["ghost/kernel"] = {{1}, {0.0f}};
  EXPECT_THAT(check_message([&] { check_weights(network); }), HasSubstr("'ghost/kernel' belongs to no node"));
}

}  // namespace
}  // namespace maskfit::network
