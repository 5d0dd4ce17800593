#include "prune/pruner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/rng.h"
#include "network/backbones.h"
#include "network/graph_builder.h"

namespace maskfit::prune {
namespace {

using network::Array;
using network::GraphBuilder;
using network::Network;
using network::Node;
using network::Op;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Random arrays everywhere. Filter norms differ by up to ten, so that thresholds split every layer.
Network fill_randomly(Network network) {
  std::uint64_t sample = 0;
  for (auto& [name, array] : network.weights) {
    base::Rng rng(7, base::Purpose::kTest, 0, sample++);
    const bool positive = name.ends_with("/moving_variance") || name.ends_with("/gamma");
    const auto each = array.values.size() / static_cast<std::size_t>(array.shape[0]);
    float scale = 1;
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      if (i % each == 0 && array.shape.size() == 4) scale = rng.uniform(0.1f, 1.0f);
      array.values[i] = positive ? rng.uniform(0.5f, 1.5f) : scale * rng.uniform(-0.3f, 0.3f);
    }
  }
  return network;
}

// Values of one node, [channels][height][width].
struct Map {
  network::Shape shape;
  std::vector<double> values;
  double& at(int c, int y, int x) {
    return values[static_cast<std::size_t>((c * shape.height + y) * shape.width + x)];
  }
  // Zero outside.
  double padded(int c, int y, int x) const {
    if (y < 0 || x < 0 || y >= shape.height || x >= shape.width) return 0;
    return values[static_cast<std::size_t>((c * shape.height + y) * shape.width + x)];
  }
};

// The network in plain loops of doubles: slow, obvious, and no part of the product. `removed`: channels of a
// layer's result are set to 0, as by filter number.
class PlainForward {
 public:
  PlainForward(const Network& network, const ChannelMap& map, const Kept& kept)
      : network_(network), shapes_(network::infer_shapes(network)), map_(map), kept_(kept) {}

  std::map<std::string, Map> run(const Map& picture) {
    for (const Node& node : network_.nodes) {
      Map& out = values_[node.name];
      out.shape = shapes_.at(node.name);
      out.values.assign(static_cast<std::size_t>(out.shape.channels * out.shape.height * out.shape.width), 0);
      for (int c = 0; c < out.shape.channels; ++c) {
        const int filter = map_.channels.at(node.name)[static_cast<std::size_t>(c)];
        if (filter >= 0 && !kept_[static_cast<std::size_t>(filter)]) continue;
        for (int y = 0; y < out.shape.height; ++y) {
          for (int x = 0; x < out.shape.width; ++x) {
            out.at(c, y, x) = node.op == Op::kInput ? picture.padded(c, y, x) : value(node, c, y, x);
          }
        }
      }
    }
    return values_;
  }

 private:
  const std::vector<float>& array(const Node& node, const char* name) const {
    return network_.weights.at(node.name + "/" + name).values;
  }
  const Map& in(const Node& node, std::size_t i = 0) const { return values_.at(node.inputs[i]); }

  double value(const Node& node, int c, int y, int x) const {
    const auto channel = static_cast<std::size_t>(c);
    const double first = node.op == Op::kConcat || node.op == Op::kConv ? 0 : in(node).padded(c, y, x);
    switch (node.op) {
      case Op::kConv:
      case Op::kDepthwise:
        return convolved(node, c, y, x);
      case Op::kBatchNorm:
        return array(node, "gamma")[channel] * (first - array(node, "moving_mean")[channel]) /
                   std::sqrt(array(node, "moving_variance")[channel] + node.epsilon) +
               array(node, "beta")[channel];
      case Op::kRelu:
        return std::max(first, 0.0);
      case Op::kSigmoid:
        return 1 / (1 + std::exp(-first));
      case Op::kAdd:
        return first + in(node, 1).padded(c, y, x);
      case Op::kConcat: {
        int offset = 0;
        std::size_t i = 0;
        for (; c - offset >= in(node, i).shape.channels; ++i) offset += in(node, i).shape.channels;
        return in(node, i).padded(c - offset, y, x);
      }
      case Op::kUpsample:
        return in(node).padded(c, y / node.factor, x / node.factor);
      case Op::kMaxPool: {
        double most = -std::numeric_limits<double>::infinity();
        for_window(node, y, x,
                   [&](int, int py, int px) { most = std::max(most, in(node).padded(c, py, px)); });
        return most;
      }
      case Op::kInput:
        break;
    }
    throw std::logic_error(node.name);
  }

  template <typename Visit>
  static void for_window(const Node& node, int y, int x, Visit visit) {
    for (int k = 0; k < node.kernel * node.kernel; ++k) {
      visit(k, y * node.stride - node.padding + k / node.kernel * node.dilation,
            x * node.stride - node.padding + k % node.kernel * node.dilation);
    }
  }

  double convolved(const Node& node, int c, int y, int x) const {
    const int area = node.kernel * node.kernel;
    const bool depthwise = node.op == Op::kDepthwise;
    const Map& from = in(node);
    const int channels = depthwise ? 1 : from.shape.channels;
    const float* kernel = array(node, "kernel").data() + c * channels * area;
    double sum = node.bias ? array(node, "bias")[static_cast<std::size_t>(c)] : 0;
    for_window(node, y, x, [&](int k, int py, int px) {
      for (int i = 0; i < channels; ++i) {
        sum += kernel[i * area + k] * from.padded(depthwise ? c : i, py, px);
      }
    });
    return sum;
  }

  const Network& network_;
  const std::map<std::string, network::Shape> shapes_;
  const ChannelMap& map_;
  const Kept& kept_;
  std::map<std::string, Map> values_;
};

// What pruning must not change: the outputs of the network when the removed channels are 0 wherever they
// would be read.
void expect_exact(const Network& network, const PruneOptions& options, double threshold) {
  const Pruner pruner(network, options);
  const Kept kept = pruner.kept(threshold);
  const Network small = pruner.pruned(kept);
  Map picture{network.input, {}};
  base::Rng rng(3, base::Purpose::kTest);
  for (int i = 0; i < network.input.channels * network.input.height * network.input.width; ++i) {
    picture.values.push_back(rng.uniform());
  }
  const ChannelMap small_map = map_channels(small);
  const Kept all(kept.size(), true);
  auto expected = PlainForward(network, pruner.map(), kept).run(picture);
  auto actual = PlainForward(small, small_map, all).run(picture);
  for (const std::string& output : network.outputs) {
    ASSERT_EQ(actual.at(output).shape, expected.at(output).shape) << output;
    for (std::size_t i = 0; i < actual.at(output).values.size(); ++i) {
      ASSERT_NEAR(actual.at(output).values[i], expected.at(output).values[i], 1e-9) << output << " " << i;
    }
  }
}

const PruneOptions kFine{.granularity = 1, .min_filters = 1};

// ---- the graph ----

// Inverted residuals, a concatenation with pooling, an addition of the concatenation, a depthwise convolution
// behind it: every way in which channels are tied.
Network knotted() {
  GraphBuilder g({3, 12, 12});
  std::string x = g.conv("stem", g.input(), {.out_channels = 6, .kernel = 3, .stride = 2});
  x = g.relu("stem_relu", g.batch_norm("stem_bn", x));
  std::string y = g.relu("expand_relu", g.conv("expand", x, {.out_channels = 9}));
  y = g.relu("dw_relu", g.batch_norm("dw_bn", g.depthwise("dw", y, {.kernel = 3, .bias = false})));
  y = g.batch_norm("project_bn", g.conv("project", y, {.out_channels = 6, .bias = false}));
  x = g.add("add_1", y, x);
  const std::string a = g.relu("a_relu", g.conv("a", x, {.out_channels = 5, .kernel = 3}));
  const std::string b = g.conv("b", g.max_pool("pool", x, 3, 1), {.out_channels = 4});
  const std::string joined = g.concat("joined", {a, b, x});
  const std::string side = g.conv("side", x, {.out_channels = 15});
  x = g.relu("add_relu", g.add("add_2", side, joined));
  x = g.depthwise("dw_last", x, {.kernel = 3, .stride = 2});
  const std::string bbox = g.conv("output_bbox", x, {.out_channels = 4});
  const std::string cov = g.conv("output_cov", x, {.out_channels = 1});
  return g.finish("knotted", {bbox, g.sigmoid("output_cov/Sigmoid", cov)});
}

std::vector<std::string> names(const ChannelMap& map, const Group& group) {
  std::vector<std::string> list;
  for (const int layer : group.layers) list.push_back(map.layers[static_cast<std::size_t>(layer)].name);
  return list;
}

std::vector<std::vector<std::string>> groups_of(const Network& network) {
  const ChannelMap map = map_channels(network);
  std::vector<std::vector<std::string>> all;
  for (const Group& group : map.groups) {
    if (group.layers.size() > 1) all.push_back(names(map, group));
  }
  return all;
}

Network resnet(const std::string& backbone, bool all_projections, const std::string& neck = "") {
  network::BackboneOptions options;
  options.backbone = backbone;
  options.input = {3, 16, 32};
  options.classes = 2;
  options.all_projections = all_projections;
  options.width = 0.25f;
  options.neck = neck;
  return fill_randomly(network::make_detectnet(options));
}

TEST(ChannelsTest, ResidualChainsOfTheClassicResnetAreOneGroupAStage) {
  EXPECT_THAT(groups_of(resnet("resnet18", false)),
              ElementsAre(ElementsAre("block_1a_conv_2", "block_1a_conv_shortcut", "block_1b_conv_2"),
                          ElementsAre("block_2a_conv_2", "block_2a_conv_shortcut", "block_2b_conv_2"),
                          ElementsAre("block_3a_conv_2", "block_3a_conv_shortcut", "block_3b_conv_2"),
                          ElementsAre("block_4a_conv_2", "block_4a_conv_shortcut", "block_4b_conv_2")));
}

TEST(ChannelsTest, AllProjectionsTieOnlyTheTwoSidesOfAnAddition) {
  EXPECT_THAT(groups_of(resnet("resnet10", true)),
              ElementsAre(ElementsAre("block_1a_conv_2", "block_1a_conv_shortcut"),
                          ElementsAre("block_2a_conv_2", "block_2a_conv_shortcut"),
                          ElementsAre("block_3a_conv_2", "block_3a_conv_shortcut"),
                          ElementsAre("block_4a_conv_2", "block_4a_conv_shortcut")));
}

TEST(ChannelsTest, DepthwiseAdditionAndConcatenationTieWhatMeetsInThem) {
  EXPECT_THAT(groups_of(knotted()), ElementsAre(ElementsAre("stem", "project", "a", "b", "side", "dw_last"),
                                                ElementsAre("expand", "dw")));
}

TEST(ChannelsTest, BundlesFollowChannelsThroughAConcatenation) {
  const Network network = knotted();
  const ChannelMap map = map_channels(network);
  const Group& group = map.groups[0];
  ASSERT_EQ(group.bundles.size(), 15u);  // 6 of the stem, 5 of a, 4 of b
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(group.bundles[i].size(), 4u);  // stem, project, side, dw_last
  for (std::size_t i = 6; i < 15; ++i) EXPECT_EQ(group.bundles[i].size(), 3u);  // a or b, side, dw_last
}

TEST(ChannelsTest, OutputsAreKeptWhole) {
  const ChannelMap map = map_channels(resnet("resnet10", true));
  int whole = 0;
  for (const Group& group : map.groups) {
    if (group.kept_whole.empty()) continue;
    EXPECT_THAT(names(map, group), ElementsAre(HasSubstr("output_")));
    ++whole;
  }
  EXPECT_EQ(whole, 2);
}

TEST(ChannelsTest, ChannelsThatThePictureIsAddedToAreKeptWhole) {
  GraphBuilder g({3, 4, 4});
  const std::string a = g.conv("a", g.input(), {.out_channels = 3});
  const std::string out = g.conv("out", g.add("sum", a, g.input()), {.out_channels = 1});
  const Network network = fill_randomly(g.finish("n", {out}));
  EXPECT_THAT(map_channels(network).groups[0].kept_whole, HasSubstr("picture"));
  EXPECT_EQ(Pruner(network, kFine).counts(Pruner(network, kFine).kept(1e9)), (std::vector<int>{3, 1}));
}

TEST(ChannelsTest, UnknownExcludedLayerNamesTheNearest) {
  try {
    map_channels(resnet("resnet10", true), {"block_2a_conv1"});
    FAIL() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kUsage);
    EXPECT_THAT(error.hint(), HasSubstr("block_2a_conv_1"));
  }
}

// ---- pruning ----

TEST(PrunerTest, NothingRemovedIsTheSameNetwork) {
  for (const Network& network : {resnet("resnet18", false), fill_randomly(knotted())}) {
    const Pruner pruner(network, kFine);
    EXPECT_EQ(pruner.pruned(pruner.kept(kKeepAll)), network);
  }
}

TEST(PrunerTest, EveryBackboneGivesTheSameOutputsAsWithZeroesInsteadOfRemovedChannels) {
  for (const std::string& backbone : network::backbone_names()) {
    for (const bool all_projections : {false, true}) {
      const Network network = resnet(backbone, all_projections, all_projections ? "" : "fpn8");
      for (const double threshold : {0.3, 0.7}) {
        SCOPED_TRACE(fmt::format("{} {} {}", backbone, all_projections, threshold));
        const PruneOptions options{.granularity = 2, .min_filters = 4};
        const Pruner pruner(network, options);
        EXPECT_LT(count(pruner.outline(pruner.kept(threshold))).macs, count(network).macs);
        expect_exact(network, options, threshold);
      }
    }
  }
}

TEST(PrunerTest, KnottedGraphGivesTheSameOutputsForEveryCriterionAndNormalizer) {
  const Network network = fill_randomly(knotted());
  for (const Criterion criterion :
       {Criterion::kUnion, Criterion::kIntersection, Criterion::kArithmeticMean, Criterion::kGeometricMean}) {
    for (const Normalizer normalizer : {Normalizer::kMax, Normalizer::kL2, Normalizer::kOff}) {
      for (const double threshold : {0.2, 0.5, 0.9, 1.3, 1e9}) {
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(criterion), to_string(normalizer), threshold));
        PruneOptions options = kFine;
        options.criterion = criterion;
        options.normalizer = normalizer;
        expect_exact(network, options, threshold);
      }
    }
  }
}

TEST(PrunerTest, HugeThresholdLeavesMinFiltersEverywhereAndTheOutputsWhole) {
  const Network network = resnet("resnet18", true);
  const Pruner pruner(network, {.granularity = 4, .min_filters = 6});
  const std::vector<int> counts = pruner.counts(pruner.kept(std::numeric_limits<double>::infinity()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Layer& layer = pruner.map().layers[i];
    EXPECT_EQ(counts[i], layer.name.starts_with("output_") ? layer.filters : 8) << layer.name;
  }
}

TEST(PrunerTest, NoLayerOfAKnotVanishes) {
  const Network network = fill_randomly(knotted());
  const Pruner pruner(network, kFine);
  for (const int count : pruner.counts(pruner.kept(1e9))) EXPECT_GE(count, 1);
}

TEST(PrunerTest, ExcludedLayerKeepsWhatIsTiedToIt) {
  const Network network = resnet("resnet18", false);
  const Pruner pruner(network, {.granularity = 1, .min_filters = 1, .excluded = {"block_2a_conv_shortcut"}});
  const std::vector<int> counts = pruner.counts(pruner.kept(0.9));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Layer& layer = pruner.map().layers[i];
    const bool whole = layer.name == "block_2a_conv_2" || layer.name == "block_2a_conv_shortcut" ||
                       layer.name == "block_2b_conv_2" || layer.name.starts_with("output_");
    EXPECT_EQ(counts[i] == layer.filters, whole) << layer.name;
  }
}

TEST(PrunerTest, ExcludedAdditionKeepsWhatIsAdded) {
  const Network network = resnet("resnet10", true);
  const Pruner pruner(network, {.granularity = 1, .min_filters = 1, .excluded = {"add_1"}});
  for (const Group& group : pruner.map().groups) {
    if (names(pruner.map(), group)[0] == "block_1a_conv_2") EXPECT_EQ(group.kept_whole, "excluded");
  }
}

TEST(PrunerTest, LayerOfZeroesStaysANumber) {
  Network network = resnet("resnet10", true);
  for (float& v : network.weights.at("block_1a_conv_1/kernel").values) v = 0;
  const Pruner pruner(network, {.granularity = 2, .min_filters = 4});
  EXPECT_EQ(pruner.counts(pruner.kept(0))[1], 4);
  expect_exact(network, {.granularity = 2, .min_filters = 4}, 0.4);
}

TEST(PrunerTest, WeightsThatAreNoNumbersAreRefusedWithTheLayer) {
  Network network = resnet("resnet10", true);
  network.weights.at("conv1/kernel").values[3] = std::nanf("");
  try {
    Pruner(network, kFine);
    FAIL() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::ExitCode::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("conv1"));
  }
}

TEST(PrunerTest, OptionsOutOfRangeAreRefused) {
  const Network network = resnet("resnet10", true);
  EXPECT_THROW(Pruner(network, {.granularity = 0}), base::Error);
  EXPECT_THROW(Pruner(network, {.min_filters = 0}), base::Error);
  EXPECT_THROW(normalizer_from_name("mean"), base::Error);
  EXPECT_THROW(criterion_from_name("any"), base::Error);
}

TEST(PrunerTest, OutlineCountsWhatThePrunedNetworkHas) {
  const Network network = resnet("resnet18", false, "fpn8");
  const Pruner pruner(network, kFine);
  const Kept kept = pruner.kept(0.6);
  const network::Counts outline = count(pruner.outline(kept)), real = count(pruner.pruned(kept));
  EXPECT_EQ(outline.trainable, real.trainable);
  EXPECT_EQ(outline.macs, real.macs);
  EXPECT_LT(real.macs, count(network).macs);
}

TEST(PrunerTest, OneGroupAloneLeavesTheOthersWhole) {
  const Network network = resnet("resnet18", false);
  const Pruner pruner(network, kFine);
  const std::vector<int> counts = pruner.counts(pruner.kept_in_group(0, 0.9));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i] < pruner.map().layers[i].filters, i == 0) << pruner.map().layers[i].name;
  }
}

// ---- the search ----

TEST(FindThresholdTest, FindsTheLargestNetworkThatIsSmallEnough) {
  const Network network = resnet("resnet18", true);
  const Pruner pruner(network, {.granularity = 2, .min_filters = 2});
  const double whole = static_cast<double>(count(network).trainable);
  const auto share = [&](const Kept& kept) {
    return static_cast<double>(count(pruner.outline(kept)).trainable) / whole;
  };
  const std::vector<double> all = pruner.thresholds();
  for (const double wanted : {0.9, 0.5, 0.12}) {
    const auto found = find_threshold(pruner, [&](const Kept& kept) { return share(kept) <= wanted; });
    ASSERT_TRUE(found);
    EXPECT_LE(share(pruner.kept(*found)), wanted);
    const auto at = std::find(all.begin(), all.end(), *found);
    EXPECT_GT(share(pruner.kept(*std::prev(at))), wanted);
  }
}

TEST(FindThresholdTest, EverythingIsSmallEnoughMeansNothingIsRemoved) {
  const Network network = resnet("resnet10", true);
  EXPECT_EQ(find_threshold(Pruner(network, kFine), [](const Kept&) { return true; }), kKeepAll);
}

TEST(FindThresholdTest, NothingIsSmallEnough) {
  const Network network = resnet("resnet10", true);
  EXPECT_FALSE(find_threshold(Pruner(network, kFine), [](const Kept&) { return false; }));
}

}  // namespace
}  // namespace maskfit::prune
