// Writer and reader against each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "export/onnx_reader.h"
#include "export/onnx_writer.h"
#include "export/quantise.h"
#include "export/test_model.h"

namespace maskfit::exporting {
namespace {

using ::testing::HasSubstr;

base::Error refusal(const formats::OnnxModel& onnx) {
  try {
    from_onnx(onnx, "model.onnx");
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

std::map<std::string, float> equal_scales(const network::Network& network, float scale) {
  std::map<std::string, float> scales;
  for (const network::Node& node : network.nodes) scales[node.name] = scale;
  return scales;
}

ExportedModel quantised_model() {
  ExportedModel exported = test_model({.fold = true});
  exported.precision = Precision::kInt8;
  exported.quantisation =
      place_quantisation(exported.model.network, equal_scales(exported.model.network, 0.25f), {"conv1"});
  return exported;
}

formats::OnnxNode& node_of(formats::OnnxModel& onnx, const std::string& name) {
  for (formats::OnnxNode& node : onnx.nodes) {
    if (node.name == name) return node;
  }
  throw std::runtime_error("no node " + name);
}

TEST(OnnxNames, AreThoseOfTheDetectNetParser) {
  const formats::OnnxModel onnx = to_onnx(test_model({.fold = true}), {.opset = 0, .batch = 2});
  EXPECT_EQ(onnx.opset, 12);
  ASSERT_EQ(onnx.inputs.size(), 1u);
  EXPECT_EQ(onnx.inputs[0].name, "input_1:0");
  const std::vector<formats::OnnxDimension> shape = {std::int64_t{2}, std::int64_t{3}, std::int64_t{48},
                                                     std::int64_t{64}};
  EXPECT_EQ(onnx.inputs[0].shape, shape);
  ASSERT_EQ(onnx.outputs.size(), 2u);
  EXPECT_EQ(onnx.outputs[0].name, "output_cov/Sigmoid:0");
  EXPECT_EQ(onnx.outputs[1].name, "output_bbox/BiasAdd:0");
  const formats::OnnxModel dynamic = to_onnx(test_model({.fold = true}));
  EXPECT_EQ(dynamic.inputs[0].shape[0], formats::OnnxDimension(std::string("batch")));
}

TEST(OnnxRoundTrip, Float32IsTheSameModel) {
  for (const bool fold : {true, false}) {
    const ExportedModel exported = test_model({.fold = fold});
    const ExportedModel back = from_onnx(to_onnx(exported), "m");
    EXPECT_EQ(back.precision, Precision::kFloat32);
    EXPECT_EQ(back.model, exported.model);
    EXPECT_TRUE(back.quantisation.empty());
  }
}

TEST(OnnxRoundTrip, NeckPoolAndPrunedChannels) {
  const ExportedModel exported = test_model({.fold = true, .neck = true, .pool = true, .width = 0.25f});
  EXPECT_EQ(from_onnx(to_onnx(exported), "m").model, exported.model);
}

TEST(OnnxRoundTrip, DepthwiseAndConcatenation) {
  for (const bool fold : {true, false}) {
    const ExportedModel exported = test_model({.fold = fold, .depthwise = true});
    EXPECT_EQ(from_onnx(to_onnx(exported), "m").model, exported.model);
  }
}

TEST(OnnxRoundTrip, Float16RoundsTheWeights) {
  ExportedModel exported = test_model({.fold = true});
  exported.precision = Precision::kFloat16;
  const ExportedModel back = from_onnx(to_onnx(exported), "m");
  EXPECT_EQ(back.precision, Precision::kFloat16);
  EXPECT_EQ(back.model.network.nodes, exported.model.network.nodes);
  const auto& was = exported.model.network.weights.at("conv1/kernel").values;
  const auto& is = back.model.network.weights.at("conv1/kernel").values;
  for (std::size_t i = 0; i < was.size(); ++i) ASSERT_NEAR(is[i], was[i], 0.001 * std::abs(was[i]) + 1e-7);
}

TEST(OnnxRoundTrip, Int8KeepsIntegersScalesAndEdges) {
  const ExportedModel exported = quantised_model();
  const formats::OnnxModel onnx = to_onnx(exported);
  EXPECT_EQ(onnx.opset, 13);
  const ExportedModel back = from_onnx(onnx, "m");
  EXPECT_EQ(back.precision, Precision::kInt8);
  EXPECT_EQ(back.quantisation.edges, exported.quantisation.edges);
  EXPECT_EQ(back.quantisation.weight_scales, exported.quantisation.weight_scales);
  EXPECT_FALSE(back.quantisation.weight_scales.contains("conv1"));
  for (const auto& [conv, scales] : back.quantisation.weight_scales) {
    const std::string kernel = conv + "/kernel";
    EXPECT_EQ(quantised_kernel(back.model.network.weights.at(kernel), scales),
              quantised_kernel(exported.model.network.weights.at(kernel), scales));
  }
}

TEST(OnnxWriter, EqualModelsGiveEqualBytes) {
  EXPECT_EQ(formats::encode_onnx(to_onnx(quantised_model())),
            formats::encode_onnx(to_onnx(quantised_model())));
}

TEST(OnnxWriter, OpsetsThatCannotBeAreRefused) {
  EXPECT_THROW(to_onnx(test_model({.fold = true}), {.opset = 10}), base::Error);
  EXPECT_THROW(to_onnx(test_model({.fold = true}), {.opset = 99}), base::Error);
  EXPECT_THROW(to_onnx(quantised_model(), {.opset = 12}), base::Error);
  EXPECT_EQ(to_onnx(test_model({.fold = true}), {.opset = 17}).opset, 17);
}

TEST(OnnxReader, ForeignGraphIsRefusedByItsMaker) {
  formats::OnnxModel onnx = to_onnx(test_model({.fold = true}));
  onnx.metadata.clear();
  onnx.producer = "pytorch";
  EXPECT_THAT(refusal(onnx).what(), HasSubstr("another tool (pytorch)"));
  EXPECT_EQ(refusal(onnx).code(), base::ExitCode::kRefused);
}

TEST(OnnxReader, EditedGraphsAreRefusedByTheirNode) {
  const formats::OnnxModel good = to_onnx(quantised_model());
  const auto bent = [&](const std::function<void(formats::OnnxModel&)>& bend) {
    formats::OnnxModel onnx = good;
    bend(onnx);
    return std::string(refusal(onnx).what());
  };
  EXPECT_THAT(bent([](auto& m) { node_of(m, "conv1").op = "ConvTranspose"; }),
              HasSubstr("'conv1' is a ConvTranspose"));
  EXPECT_THAT(bent([](auto& m) {
                node_of(m, "conv1").attributes["pads"] = std::vector<std::int64_t>{0, 0, 1, 1};
              }),
              HasSubstr("'conv1' has 'pads' that differ"));
  EXPECT_THAT(bent([](auto& m) { node_of(m, "conv1").attributes["group"] = std::int64_t{3}; }),
              HasSubstr("groups"));
  EXPECT_THAT(bent([](auto& m) { node_of(m, "conv1").inputs[0] = "nowhere"; }), HasSubstr("reads 'nowhere'"));
  EXPECT_THAT(bent([](auto& m) { m.metadata["maskfit.class_names"] = "[\"one\"]"; }),
              HasSubstr("class names"));
  EXPECT_THAT(bent([](auto& m) { m.metadata["maskfit.format_version"] = "2"; }), HasSubstr("newer"));
  EXPECT_THAT(bent([](auto& m) { m.metadata.erase("maskfit.canvas"); }), HasSubstr("lacks 'maskfit.canvas'"));
  EXPECT_THAT(bent([](auto& m) { m.outputs.pop_back(); }), HasSubstr("1 outputs"));
  EXPECT_THAT(bent([](auto& m) { m.inputs[0].shape[2] = std::string("height"); }), HasSubstr("not fixed"));
  EXPECT_THAT(bent([](auto& m) { m.constants.erase(m.constants.begin(), m.constants.begin() + 2); }),
              HasSubstr("constant"));
}

}  // namespace
}  // namespace maskfit::exporting
