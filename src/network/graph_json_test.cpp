#include "network/graph_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "network/backbones.h"

namespace maskfit::network {
namespace {

using ::testing::HasSubstr;

Network tiny() {
  BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, 32, 48};
  options.neck = "fpn8";
  return make_detectnet(options);
}

base::Error refusal(const std::string& text) {
  try {
    graph_from_json(text, "face.safetensors");
  } catch (const base::Error& error) {
    return error;
  }
  return {base::ExitCode::kDone, "nothing thrown"};
}

// The graph's JSON after one change.
template <typename Change>
std::string bent(Change change) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(graph_to_json(tiny()));
  change(json);
  return json.dump();
}

TEST(GraphJsonTest, RoundTripKeepsEveryField) {
  Network network = tiny();
  network.nodes.push_back(
      {.name = "pool", .op = Op::kMaxPool, .inputs = {"neck_relu"}, .kernel = 3, .stride = 2, .padding = 1});
  network.nodes.push_back({.name = "dw",
                           .op = Op::kDepthwise,
                           .inputs = {"pool"},
                           .kernel = 3,
                           .stride = 2,
                           .padding = 1,
                           .bias = false});
  network.nodes.push_back({.name = "joined", .op = Op::kConcat, .inputs = {"dw", "dw"}});
  network.nodes[2].momentum = 0.999f;
  network.nodes[1].dilation = 2;
  network.nodes[1].padding = 6;
  network.nodes[1].bias = false;
  const Network back = graph_from_json(graph_to_json(network), "x");
  EXPECT_EQ(back.name, network.name);
  EXPECT_EQ(back.input, network.input);
  EXPECT_EQ(back.nodes, network.nodes);
  EXPECT_EQ(back.outputs, network.outputs);
}

TEST(GraphJsonTest, FloatsAreWrittenAsPeopleWriteThem) {
  EXPECT_THAT(graph_to_json(tiny()), HasSubstr(R"("epsilon":0.001,"momentum":0.99})"));
}

TEST(GraphJsonTest, FieldsThatAnOperationDoesNotUseAreLeftOut) {
  const nlohmann::json json = nlohmann::json::parse(graph_to_json(tiny()));
  EXPECT_EQ(json["nodes"][0].size(), 3u);
  EXPECT_EQ(json["nodes"][1]["kernel"], 7);
  EXPECT_FALSE(json["nodes"][1].contains("epsilon"));
  EXPECT_FALSE(json["nodes"][2].contains("kernel"));
}

TEST(GraphJsonTest, TornTextIsRefusedWithTheFile) {
  const std::string text = graph_to_json(tiny());
  const base::Error error = refusal(text.substr(0, text.size() / 2));
  EXPECT_EQ(error.code(), base::ExitCode::kRefused);
  EXPECT_EQ(error.where(), "face.safetensors");
  EXPECT_FALSE(error.hint().empty());
}

TEST(GraphJsonTest, UnknownOperationSuggestsAnUpdate) {
  const base::Error error = refusal(bent([](auto& json) { json["nodes"][3]["op"] = "swish"; }));
  EXPECT_THAT(error.what(), HasSubstr("'swish'"));
  EXPECT_THAT(error.hint(), HasSubstr("newer"));
}

TEST(GraphJsonTest, UnknownFieldNamesNodeAndField) {
  const base::Error error = refusal(bent([](auto& json) { json["nodes"][1]["groups"] = 2; }));
  EXPECT_THAT(error.what(), HasSubstr("'conv1'"));
  EXPECT_THAT(error.what(), HasSubstr("'groups'"));
}

TEST(GraphJsonTest, MissingOrMistypedFieldIsRefused) {
  EXPECT_THAT(refusal(bent([](auto& json) { json["nodes"][1].erase("stride"); })).what(),
              HasSubstr("stride"));
  EXPECT_THAT(refusal(bent([](auto& json) { json["nodes"][1]["stride"] = "two"; })).what(),
              HasSubstr("string"));
  EXPECT_THAT(refusal(bent([](auto& json) { json["input"] = {3, 32}; })).what(), HasSubstr("'input'"));
  EXPECT_EQ(refusal("[]").code(), base::ExitCode::kRefused);
}

TEST(GraphJsonTest, GraphWhoseShapesDoNotFitIsRefused) {
  const base::Error error = refusal(bent([](auto& json) { json["input"] = {3, 48, 40}; }));
  EXPECT_THAT(error.what(), HasSubstr("neck_add"));
}

}  // namespace
}  // namespace maskfit::network
