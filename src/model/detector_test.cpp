#include "model/detector.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "model/outputs.h"
#include "network/backbones.h"
#include "network/graph_builder.h"
#include "tensor/array.h"

namespace maskfit::model {
namespace {

using network::Network;
using network::Node;
using network::Op;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Random arrays everywhere, biases and moving statistics included.
Network fill_randomly(Network network) {
  network::initialise(network, 3);
  std::uint64_t sample = 0;
  for (auto& [name, array] : network.weights) {
    base::Rng rng(5, base::Purpose::kTest, 0, sample++);
    if (name.ends_with("/kernel")) continue;
    const bool positive = name.ends_with("/moving_variance") || name.ends_with("/gamma");
    for (float& v : array.values) v = positive ? rng.uniform(0.5f, 1.5f) : rng.uniform(-0.3f, 0.3f);
  }
  return network;
}

// A small network with such arrays.
Network random_network(network::BackboneOptions options = {}) {
  options.backbone = "resnet10";
  options.input = {3, 32, 48};
  options.classes = 2;
  return fill_randomly(network::make_detectnet(options));
}

at::Tensor random_images(std::int64_t count, const network::Shape& shape, std::uint64_t seed = 1) {
  base::Rng rng(seed, base::Purpose::kTest);
  std::vector<float> values(static_cast<std::size_t>(count * shape.channels * shape.height * shape.width));
  for (float& v : values) v = rng.uniform();
  return tensor::from_values(values, {count, shape.channels, shape.height, shape.width});
}

// A loss that weighs every output cell differently.
at::Tensor probe_loss(const at::Tensor& bbox, const at::Tensor& logits) {
  const auto weigh = [](const at::Tensor& x, double frequency) {
    const at::Tensor weights = at::arange(x.numel(), x.options()).mul_(frequency).sin_().view(x.sizes());
    return x.mul(weights).sum().add(x.square().mean());
  };
  return weigh(bbox, 0.7).add(weigh(logits, 1.3));
}

// The network in plain LibTorch calls with autograd: what Detector must agree with. float64.
class Oracle {
 public:
  Oracle(const Network& network, bool freeze_bn) : network_(network), freeze_bn_(freeze_bn) {
    for (const network::WeightSlot& slot : network::weight_slots(network)) {
      at::Tensor tensor =
          tensor::from_values(network.weights.at(slot.name).values, slot.shape).to(at::kDouble);
      arrays_[slot.name] = slot.trainable ? tensor.set_requires_grad(true) : tensor;
    }
  }

  // Fills bbox and logits.
  void forward(const at::Tensor& images, bool training) {
    std::map<std::string, at::Tensor> values;
    for (const Node& node : network_.nodes) values[node.name] = run(node, values, images, training);
    bbox = values.at("output_bbox");
    logits = values.at("output_cov");
  }

  std::map<std::string, at::Tensor> gradients(const at::Tensor& loss) const {
    std::vector<std::string> names;
    std::vector<at::Tensor> leaves;
    for (const auto& [name, array] : arrays_) {
      if (!array.requires_grad()) continue;
      names.push_back(name);
      leaves.push_back(array);
    }
    const auto list = torch::autograd::grad({loss}, leaves, {}, {}, false, true);
    std::map<std::string, at::Tensor> by_name;
    for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i]] = list[i];
    return by_name;
  }

  const at::Tensor& array(const std::string& name) const { return arrays_.at(name); }

  at::Tensor bbox, logits;

 private:
  at::Tensor run(const Node& node, const std::map<std::string, at::Tensor>& values, const at::Tensor& images,
                 bool training) const {
    const auto in = [&](std::size_t i) { return values.at(node.inputs.at(i)); };
    const auto array = [&](const char* name) { return arrays_.at(node.name + "/" + name); };
    switch (node.op) {
      case Op::kInput:
        return images.to(at::kDouble);
      case Op::kConv:
        return at::conv2d(in(0), array("kernel"), node.bias ? array("bias") : at::Tensor(),
                          {node.stride, node.stride}, {node.padding, node.padding},
                          {node.dilation, node.dilation});
      case Op::kDepthwise:
        return at::conv2d(in(0), array("kernel"), node.bias ? array("bias") : at::Tensor(),
                          {node.stride, node.stride}, {node.padding, node.padding},
                          {node.dilation, node.dilation}, in(0).size(1));
      case Op::kBatchNorm: {
        const bool batch = training && !freeze_bn_;
        return at::batch_norm(
            in(0), array("gamma"), array("beta"), batch ? at::Tensor() : array("moving_mean"),
            batch ? at::Tensor() : array("moving_variance"), batch, 0.0, node.epsilon, false);
      }
      case Op::kRelu:
        return at::relu(in(0));
      case Op::kSigmoid:
        return at::sigmoid(in(0));
      case Op::kAdd:
        return at::add(in(0), in(1));
      case Op::kConcat:
        return at::cat({in(0), in(1)}, 1);
      case Op::kUpsample:
        return at::upsample_nearest2d(in(0), {in(0).size(2) * node.factor, in(0).size(3) * node.factor});
      case Op::kMaxPool: {
        const std::int64_t p = node.padding;
        return at::max_pool2d(at::constant_pad_nd(in(0), {p, p, p, p}, 0), {node.kernel, node.kernel},
                              {node.stride, node.stride});
      }
    }
    throw std::logic_error(node.name);
  }

  const Network& network_;
  const bool freeze_bn_;
  std::map<std::string, at::Tensor> arrays_;
};

// Largest difference over the largest magnitude (or over 1e-3, so that zeros compare absolutely).
double relative_error(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor difference = actual.to(at::kDouble).sub(expected).abs().max();
  return tensor::to_number(difference) / std::max(1e-3, tensor::to_number(expected.abs().max()));
}

void expect_same_gradients(const Network& network, const DetectorOptions& options, double tolerance) {
  const at::Tensor images = random_images(2, network.input);
  Detector detector(network, options);
  Oracle oracle(network, options.freeze_bn);
  const Outputs outputs = detector.forward(images, true);
  oracle.forward(images, true);
  EXPECT_LT(relative_error(outputs.bbox, oracle.bbox), tolerance);
  EXPECT_LT(relative_error(outputs.cov_logits, oracle.logits), tolerance);
  const auto gradients = detector.backward(probe_loss(outputs.bbox, outputs.cov_logits));
  const auto expected = oracle.gradients(probe_loss(oracle.bbox, oracle.logits));
  const std::vector<std::string> names = detector.parameter_names();
  ASSERT_EQ(names.size(), gradients.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(gradients[i].sizes(), expected.at(names[i]).sizes()) << names[i];
    EXPECT_LT(relative_error(gradients[i], expected.at(names[i])), tolerance) << names[i];
  }
}

// Both ways of computing a training step, LibTorch's and the fused kernels' definition on the CPU.
void expect_same_gradients_either_way(const Network& network, DetectorOptions options, double tolerance) {
  for (const Kernels kernels : {Kernels::kLibTorch, Kernels::kFused}) {
    SCOPED_TRACE(kernels == Kernels::kFused ? "fused" : "LibTorch");
    options.kernels = kernels;
    expect_same_gradients(network, options, tolerance);
  }
}

TEST(DetectorTest, GradientsAgreeWithAutograd) {
  network::BackboneOptions options;
  expect_same_gradients_either_way(random_network(options), {}, 2e-4);
}

TEST(DetectorTest, GradientsAgreeWhereTheFirstConvolutionIsTooWideForTheStemsKernels) {
  network::BackboneOptions options;
  options.width = 1.25f;
  expect_same_gradients_either_way(random_network(options), {}, 2e-4);
}

TEST(DetectorTest, GradientsAgreeWithIdentityShortcutsAndNeck) {
  network::BackboneOptions options;
  options.neck = "fpn8";
  options.all_projections = true;
  expect_same_gradients_either_way(random_network(options), {}, 2e-4);
}

TEST(DetectorTest, GradientsAgreeWithoutBatchNorm) {
  network::BackboneOptions options;
  options.use_batch_norm = false;
  expect_same_gradients_either_way(random_network(options), {}, 2e-4);
}

TEST(DetectorTest, GradientsAgreeWithFrozenBatchNormBiasesIncluded) {
  DetectorOptions options;
  options.freeze_bn = true;
  expect_same_gradients_either_way(random_network(), options, 2e-4);
}

TEST(DetectorTest, GradientsAgreeThroughMaxPoolAndAnIdentityUnit) {
  // activation_1 -> pool (zero padding) -> relu of (pool + pool's relu): shared gradients and pooling.
  Network network = random_network();
  auto& nodes = network.nodes;
  const auto at_conv =
      std::find_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.name == "block_1a_conv_1"; });
  const std::vector<Node> extra = {
      {.name = "pool",
       .op = Op::kMaxPool,
       .inputs = {"activation_1"},
       .kernel = 3,
       .stride = 1,
       .padding = 1},
      {.name = "twice", .op = Op::kAdd, .inputs = {"pool", "activation_1"}},
      {.name = "twice_relu", .op = Op::kRelu, .inputs = {"twice"}},
      {.name = "thrice", .op = Op::kAdd, .inputs = {"twice_relu", "activation_1"}}};
  nodes.insert(at_conv, extra.begin(), extra.end());
  for (Node& node : nodes) {
    if (node.name == "block_1a_conv_1" || node.name == "block_1a_conv_shortcut") node.inputs = {"thrice"};
  }
  expect_same_gradients_either_way(network, {}, 2e-4);
}

TEST(DetectorTest, GradientsAgreeThroughDepthwiseConvolutionsAndConcatenation) {
  network::GraphBuilder graph({3, 32, 48});
  std::string x = graph.conv("conv1", graph.input(), {.out_channels = 8, .kernel = 3, .stride = 2});
  x = graph.relu("relu1", graph.batch_norm("bn_conv1", x));
  std::string a = graph.depthwise("dw", x, {.kernel = 3, .stride = 2, .bias = false});
  a = graph.relu("dw_relu", graph.batch_norm("dw_bn", a));
  const std::string b = graph.conv("branch", x, {.out_channels = 5, .kernel = 1, .stride = 2});
  x = graph.concat("joined", {a, b});
  const std::string bbox = graph.conv("output_bbox", x, {.out_channels = 8});
  const std::string cov = graph.conv("output_cov", x, {.out_channels = 2});
  // The gradients of the heads' biases are sums in which almost everything cancels.
  expect_same_gradients(fill_randomly(graph.finish("joined", {bbox, graph.sigmoid("p", cov)})), {}, 1e-3);
}

TEST(DetectorTest, Bfloat16StaysNearFloat32) {
  const Network network = random_network();
  DetectorOptions options;
  options.precision = Precision::kBfloat16;
  const at::Tensor images = random_images(2, network.input);
  Detector detector(network, options);
  Oracle oracle(network, false);
  const Outputs outputs = detector.forward(images, true);
  oracle.forward(images, true);
  EXPECT_EQ(outputs.bbox.scalar_type(), at::kFloat);
  EXPECT_LT(relative_error(outputs.bbox, oracle.bbox), 0.1);
  EXPECT_GT(relative_error(outputs.bbox, oracle.bbox), 1e-5) << "did it compute in float32?";
  for (const at::Tensor& gradient : detector.backward(probe_loss(outputs.bbox, outputs.cov_logits))) {
    EXPECT_EQ(gradient.scalar_type(), at::kFloat);
    EXPECT_TRUE(std::isfinite(tensor::to_number(gradient.abs().sum())));
  }
}

// On a CPU the backbone is the same either way; the heads' three products must add up to float32's.
TEST(DetectorTest, HeadsInPartsHaveFloat32Digits) {
  const Network network = random_network();
  const at::Tensor images = random_images(2, network.input);
  std::vector<Outputs> outputs;
  std::vector<std::vector<at::Tensor>> gradients;
  for (const Kernels kernels : {Kernels::kLibTorch, Kernels::kFused}) {
    DetectorOptions options;
    options.precision = Precision::kBfloat16;
    options.kernels = kernels;
    Detector detector(network, options);
    outputs.push_back(detector.forward(images, true));
    gradients.push_back(detector.backward(probe_loss(outputs.back().bbox, outputs.back().cov_logits)));
  }
  EXPECT_LT(relative_error(outputs[1].bbox, outputs[0].bbox.detach().to(at::kDouble)), 1e-5);
  EXPECT_LT(relative_error(outputs[1].cov_logits, outputs[0].cov_logits.detach().to(at::kDouble)), 1e-5);
  const auto names = Detector(network, "cpu", Precision::kFloat32).parameter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool head = names[i].starts_with("output_");
    EXPECT_LT(relative_error(gradients[1][i], gradients[0][i].to(at::kDouble)), head ? 1e-5 : 0.05)
        << names[i];
  }
}

TEST(DetectorTest, MovingStatisticsUseTheBiasedVarianceAndTheBias) {
  const Network network = random_network();
  const at::Tensor images = random_images(2, network.input);
  Detector detector(network, "cpu", Precision::kFloat32);
  detector.forward(images, true);
  const Network after = detector.network();
  const Node& conv = network.node("conv1");
  const Oracle oracle(network, false);
  const at::Tensor x =
      at::conv2d(images.to(at::kDouble), oracle.array("conv1/kernel"), oracle.array("conv1/bias"),
                 {conv.stride, conv.stride}, {conv.padding, conv.padding});
  const std::vector<float> means = tensor::to_values(x.mean({0, 2, 3}));
  const std::vector<float> variances = tensor::to_values(x.var({0, 2, 3}, /*unbiased=*/false));
  for (std::size_t c = 0; c < means.size(); ++c) {
    const float old_mean = network.weights.at("bn_conv1/moving_mean").values[c];
    const float old_variance = network.weights.at("bn_conv1/moving_variance").values[c];
    EXPECT_NEAR(after.weights.at("bn_conv1/moving_mean").values[c], 0.99f * old_mean + 0.01f * means[c],
                1e-6);
    EXPECT_NEAR(after.weights.at("bn_conv1/moving_variance").values[c],
                0.99f * old_variance + 0.01f * variances[c], 1e-6);
  }
}

TEST(DetectorTest, VarianceOfASinglePixelIsZeroNotInfinite) {
  network::BackboneOptions options;
  Network network = random_network(options);
  network.input = {3, 16, 16};  // block 3 and 4 are one pixel; with one picture that is one sample a channel
  Detector detector(network, "cpu", Precision::kFloat32);
  detector.forward(random_images(1, network.input), true);
  const Network after = detector.network();
  for (const float v : after.weights.at("block_4a_bn_1/moving_variance").values)
    EXPECT_TRUE(std::isfinite(v));
  EXPECT_NEAR(after.weights.at("block_4a_bn_1/moving_variance").values[0],
              0.99f * network.weights.at("block_4a_bn_1/moving_variance").values[0], 1e-5);
}

TEST(DetectorTest, FrozenBatchNormKeepsItsMovingStatistics) {
  const Network network = random_network();
  DetectorOptions options;
  options.freeze_bn = true;
  Detector detector(network, options);
  detector.forward(random_images(2, network.input), true);
  EXPECT_EQ(detector.network().weights, network.weights);
}

TEST(DetectorTest, InferenceUsesMovingStatisticsAndChangesNothing) {
  const Network network = random_network();
  const at::Tensor images = random_images(2, network.input);
  Detector detector(network, "cpu", Precision::kFloat32);
  Oracle oracle(network, false);
  const Outputs outputs = detector.forward(images, false);
  oracle.forward(images, false);
  EXPECT_LT(relative_error(outputs.bbox, oracle.bbox), 1e-4);
  EXPECT_LT(relative_error(outputs.cov, at::sigmoid(oracle.logits)), 1e-4);
  EXPECT_FALSE(outputs.bbox.requires_grad());
  EXPECT_EQ(detector.network().weights, network.weights);
}

TEST(DetectorTest, FoldedNetworkGivesTheSameOutputs) {
  for (const bool neck : {false, true}) {
    network::BackboneOptions options;
    options.neck = neck ? "fpn8" : "";
    const Network network = random_network(options);
    const at::Tensor images = random_images(2, network.input);
    Detector plain(network, "cpu", Precision::kFloat32), folded(network, "cpu", Precision::kFloat32);
    folded.fold_for_inference();
    const Outputs a = plain.forward(images, false), b = folded.forward(images, false);
    EXPECT_LT(relative_error(b.bbox, a.bbox.to(at::kDouble)), 1e-4);
    EXPECT_LT(relative_error(b.cov, a.cov.to(at::kDouble)), 1e-4);
    EXPECT_EQ(folded.network().weights, network.weights);
    EXPECT_THROW(folded.forward(images, true), base::CheckFailed);
  }
}

TEST(DetectorTest, FrozenBlocksHaveNoParametersButTheirBatchNormsDo) {
  DetectorOptions options;
  options.freeze_blocks = {0, 2};
  const Network network = random_network();
  Detector detector(network, options);
  const auto names = detector.parameter_names();
  EXPECT_THAT(names, Not(Contains("conv1/kernel")));
  EXPECT_THAT(names, Not(Contains("block_2a_conv_shortcut/bias")));
  EXPECT_THAT(names, Contains("bn_conv1/gamma"));
  EXPECT_THAT(names, Contains("block_1a_conv_1/kernel"));
  EXPECT_THAT(detector.frozen_names(), Contains("conv1/kernel"));
  EXPECT_EQ(detector.frozen().size(), detector.frozen_names().size());
  expect_same_gradients_either_way(network, options, 2e-4);
}

TEST(DetectorTest, FreezingABlockThatIsNotThereListsTheBlocks) {
  DetectorOptions options;
  options.freeze_blocks = {7};
  try {
    Detector detector(random_network(), options);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no block 7"));
    EXPECT_THAT(error.hint(), HasSubstr("0, 1, 2, 3, 4"));
  }
}

TEST(DetectorTest, ChangingParametersInPlaceChangesTheNetwork) {
  Detector detector(random_network(), "cpu", Precision::kFloat32);
  const auto names = detector.parameter_names();
  const auto parameters = detector.parameters();
  ASSERT_EQ(names.size(), parameters.size());
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < names.size(); ++i) {
    at::Tensor parameter = parameters[i];
    if (names[i] == "output_bbox/bias") parameter.fill_(4.0f);
  }
  EXPECT_EQ(detector.network().weights.at("output_bbox/bias").values, std::vector<float>(8, 4.0f));
}

TEST(DetectorTest, RoundTripKeepsKernelsInTheirLogicalOrder) {
  const Network network = random_network();
  EXPECT_EQ(Detector(network, "cpu", Precision::kFloat32).network().weights, network.weights);
}

TEST(DetectorTest, BackwardWithoutForwardIsOurMistake) {
  const Network network = random_network();
  Detector detector(network, "cpu", Precision::kFloat32);
  const Outputs outputs = detector.forward(random_images(1, network.input), true);
  const at::Tensor loss = probe_loss(outputs.bbox, outputs.cov_logits);
  detector.backward(loss);
  EXPECT_THROW(detector.backward(loss), base::CheckFailed);
}

TEST(DetectorTest, LossOfOneHeadLeavesTheOtherWithoutGradient) {
  const Network network = random_network();
  Detector detector(network, "cpu", Precision::kFloat32);
  const Outputs outputs = detector.forward(random_images(1, network.input), true);
  const auto gradients = detector.backward(outputs.cov.sum());
  const auto names = detector.parameter_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double size = tensor::to_number(gradients[i].abs().sum());
    if (names[i].starts_with("output_bbox")) EXPECT_EQ(size, 0) << names[i];
    if (names[i].starts_with("output_cov")) EXPECT_GT(size, 0) << names[i];
  }
}

TEST(DetectorTest, PicturesOfAnotherSizeAreNamed) {
  Detector detector(random_network(), "cpu", Precision::kFloat32);
  try {
    detector.forward(random_images(1, {3, 48, 32}), false);
    FAIL();
  } catch (const base::CheckFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("images has the shape [1,3,48,32], expected [-1,3,32,48]"));
  }
}

TEST(DetectorTest, PrecisionNames) {
  EXPECT_EQ(precision_from_name("bf16"), Precision::kBfloat16);
  EXPECT_EQ(precision_from_name("fp16"), Precision::kFloat16);
  EXPECT_EQ(precision_from_name("fp32"), Precision::kFloat32);
  EXPECT_THROW(precision_from_name("int8"), base::Error);
  EXPECT_THROW(Detector(random_network(), "cpu", Precision::kFloat16), base::Error);
}

}  // namespace
}  // namespace maskfit::model
