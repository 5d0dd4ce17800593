#include "prune/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "network/backbones.h"

namespace maskfit::prune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

network::Model small_model() {
  network::BackboneOptions options;
  options.backbone = "resnet10";
  options.input = {3, 32, 48};
  options.width = 0.5f;
  network::Model model;
  model.network = network::make_detectnet(options);
  network::initialise(model.network, 3);
  model.class_names = {"mask"};
  model.provenance = {{"map", "0.8"}, {"ap/mask", "0.8"}, {"seed", "7"}};
  return model;
}

const PruneOptions kOptions{.granularity = 4, .min_filters = 4, .excluded = {"block_4a_conv_1"}};

TEST(SummaryTest, LayersAddUpToTheNetwork) {
  const network::Model model = small_model();
  const Pruner pruner(model.network, kOptions);
  const Summary summary = summarise(pruner, pruner.kept(0.98));
  const network::Counts before = count(model.network), after = count(pruner.pruned(pruner.kept(0.98)));
  EXPECT_EQ(summary.parameters_before, before.trainable + before.non_trainable);
  EXPECT_EQ(summary.parameters_after, after.trainable + after.non_trainable);
  EXPECT_EQ(summary.macs_after, after.macs);
  EXPECT_LT(summary.parameter_ratio(), 1);
  const auto sum = [&](std::int64_t LayerRow::*part) {
    return std::accumulate(summary.layers.begin(), summary.layers.end(), std::int64_t{0},
                           [&](std::int64_t s, const LayerRow& row) { return s + row.*part; });
  };
  EXPECT_EQ(sum(&LayerRow::parameters_before), summary.parameters_before);
  EXPECT_EQ(sum(&LayerRow::parameters_after), summary.parameters_after);
  EXPECT_EQ(sum(&LayerRow::macs_before), summary.macs_before);
  EXPECT_EQ(sum(&LayerRow::macs_after), summary.macs_after);
}

TEST(SummaryTest, NotesSayWhyALayerIsWholeAndWhoSharesItsFate) {
  const network::Model model = small_model();
  const Pruner pruner(model.network, kOptions);
  const Summary summary = summarise(pruner, pruner.kept(0.98));
  const auto note = [&](const std::string& name) {
    for (const LayerRow& row : summary.layers) {
      if (row.name == name) return row.note;
    }
    return std::string("no such row");
  };
  EXPECT_EQ(note("conv1"), "");
  EXPECT_EQ(note("block_2a_conv_2"), "with block_2a_conv_shortcut");
  EXPECT_EQ(note("block_4a_conv_1"), "excluded");
  EXPECT_EQ(note("output_cov"), "output of the network");
}

TEST(SummaryTest, ApColumnOnlyWhereItWasMeasured) {
  const network::Model model = small_model();
  const Pruner pruner(model.network, kOptions);
  Summary summary = summarise(pruner, pruner.kept(0.98));
  EXPECT_THAT(to_table(summary), Not(HasSubstr("AP alone")));
  summary.layers[0].ap_drop = 0.125;
  EXPECT_THAT(to_table(summary), HasSubstr("AP alone"));
  EXPECT_THAT(to_table(summary), HasSubstr("-0.1250"));
  const auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json.at("layers")[0].at("ap_drop"), 0.125);
  EXPECT_TRUE(json.at("layers")[1].at("ap_drop").is_null());
}

TEST(PrunedModelTest, SaysWhereItCameFromAndKeepsNoFigureOfItsParent) {
  const network::Model parent = small_model();
  const Pruner pruner(parent.network, kOptions);
  const network::Model small = pruned_model(parent, "abc", pruner, kOptions, 0.98);
  EXPECT_EQ(small.class_names, parent.class_names);
  EXPECT_EQ(small.provenance.at("prune/parent_digest"), "abc");
  EXPECT_EQ(small.provenance.at("prune/threshold"), "0.98");
  EXPECT_EQ(small.provenance.at("prune/excluded"), "block_4a_conv_1");
  EXPECT_EQ(small.provenance.at("seed"), "7");
  EXPECT_EQ(small.provenance.at("prune/parent/map"), "0.8");
  EXPECT_EQ(small.provenance.at("prune/parent/ap/mask"), "0.8");
  EXPECT_FALSE(small.provenance.contains("map"));
  const auto filters = nlohmann::json::parse(small.provenance.at("prune/filters"));
  EXPECT_EQ(filters.at("conv1")[0], 32);
  EXPECT_EQ(filters.at("conv1")[1], small.network.node("conv1").out_channels);
}

}  // namespace
}  // namespace maskfit::prune
