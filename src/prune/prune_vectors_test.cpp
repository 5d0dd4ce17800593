// The reference's pruning, number for number.

#include <gtest/gtest.h>

#include "network/graph_builder.h"
#include "prune/pruner.h"
#include "tests/support/vectors.h"

namespace maskfit::prune {
namespace {

using nlohmann::json;
using support::vector_group;

KeepRule rule_of(const json& input) {
  return {input.at("threshold").get<double>(), input.at("granularity").get<int>(),
          input.at("min_num_filters").get<int>()};
}

void expect_near(const std::vector<double>& actual, const json& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

TEST(PruneVectorsTest, KeepSets) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("prune_keep")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector.at("input");
    EXPECT_EQ(keep_set(input.at("stat").get<std::vector<double>>(), rule_of(input)),
              vector.at("expected").at("keep").get<std::vector<int>>());
  }
}

TEST(PruneVectorsTest, EqualizedStatistics) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("prune_equalize")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector.at("input");
    const auto statistics = input.at("stats").get<std::vector<std::vector<double>>>();
    std::vector<double> merged;
    for (std::size_t i = 0; i < statistics[0].size(); ++i) {
      std::vector<double> members;
      for (const std::vector<double>& statistic : statistics) members.push_back(statistic[i]);
      merged.push_back(combined(members, criterion_from_name(input.at("criterion").get<std::string>())));
    }
    expect_near(merged, vector.at("expected").at("merged"), vector.at("abs_tol").get<double>());
    EXPECT_EQ(keep_set(merged, rule_of(input)), vector.at("expected").at("keep").get<std::vector<int>>());
  }
}

// Keras's H,W,I,O (a depthwise kernel: H,W,C,1, a filter a channel) as [filters][in][height][width].
network::Array from_keras(const json& input, bool depthwise) {
  const auto shape = input.at("kernel_shape").get<std::vector<std::int64_t>>();
  const auto values = input.at("kernel").get<std::vector<double>>();
  const std::int64_t filters = shape[depthwise ? 2 : 3], others = shape[depthwise ? 3 : 2];
  network::Array kernel{{filters, others, shape[0], shape[1]}, std::vector<float>(values.size())};
  for (std::int64_t pixel = 0; pixel < shape[0] * shape[1]; ++pixel) {
    for (std::int64_t i = 0; i < shape[2]; ++i) {
      for (std::int64_t o = 0; o < shape[3]; ++o) {
        const std::int64_t filter = depthwise ? i : o, other = depthwise ? o : i;
        const std::int64_t to = (filter * others + other) * shape[0] * shape[1] + pixel;
        kernel.values[static_cast<std::size_t>(to)] =
            static_cast<float>(values[static_cast<std::size_t>((pixel * shape[2] + i) * shape[3] + o)]);
      }
    }
  }
  return kernel;
}

TEST(PruneVectorsTest, FilterNorms) {
  MASKFIT_REQUIRE_VECTORS();
  // The vectors' kernels are decimal numbers, ours float32: 24 bits of each.
  constexpr double kTolerance = 1e-6;
  for (const json& vector : vector_group("prune_norm")) {
    const auto id = vector.at("id").get<std::string>();
    SCOPED_TRACE(id);
    const json& expected = vector.at("expected");
    const std::vector<double> norms =
        filter_norms(from_keras(vector.at("input"), id.find("depthwise") != std::string::npos));
    expect_near(norms, expected.at("l2"), kTolerance);
    expect_near(normalized(norms, Normalizer::kMax), expected.at("max_normalised"), kTolerance);
    if (expected.contains("L2_normalised")) {
      expect_near(normalized(norms, Normalizer::kL2), expected.at("L2_normalised"), kTolerance);
    }
  }
}

// `first` filters that are kept get a norm of 2, the others 1; threshold 1.5 without a normaliser tells them
// apart.
void weigh(network::Network& network, const std::string& layer, const std::vector<int>& kept) {
  network::Array& kernel = network.weights.at(layer + "/kernel");
  const auto each = kernel.values.size() / static_cast<std::size_t>(kernel.shape[0]);
  for (std::size_t f = 0; f < static_cast<std::size_t>(kernel.shape[0]); ++f) {
    const bool stays = std::find(kept.begin(), kept.end(), static_cast<int>(f)) != kept.end();
    kernel.values[f * each] = stays ? 2.0f : 1.0f;
  }
}

const PruneOptions kPlain{.normalizer = Normalizer::kOff, .granularity = 1, .min_filters = 1};

// Values of the first filter's channels, which were numbered by the test.
std::vector<int> first_filter(const network::Network& network, const std::string& layer) {
  const network::Array& kernel = network.weights.at(layer + "/kernel");
  const auto each = static_cast<std::ptrdiff_t>(kernel.values.size()) / kernel.shape[0];
  return {kernel.values.begin(), kernel.values.begin() + each};
}

void number(network::Network& network, const std::string& layer) {
  network::Array& kernel = network.weights.at(layer + "/kernel");
  for (std::size_t i = 0; i < kernel.values.size(); ++i) kernel.values[i] = static_cast<float>(i);
}

TEST(PruneVectorsTest, ConcatenationShiftsTheBranches) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("prune_concat")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    network::GraphBuilder graph({1, 4, 4});
    std::vector<std::string> branches;
    PruneOptions options = kPlain;
    for (const json& branch : vector.at("input").at("branches")) {
      branches.push_back(graph.conv("branch" + std::to_string(branches.size()), graph.input(),
                                    {.out_channels = branch.at("channels").get<int>()}));
      if (branch.at("keep").is_null()) options.excluded.push_back(branches.back());
    }
    const std::string out = graph.conv("out", graph.concat("joined", branches), {.out_channels = 1});
    network::Network network = graph.finish("concat", {out});
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const json& keep = vector.at("input").at("branches")[i].at("keep");
      if (!keep.is_null()) weigh(network, branches[i], keep.get<std::vector<int>>());
    }
    number(network, "out");
    const Pruner pruner(network, options);
    EXPECT_EQ(first_filter(pruner.pruned(pruner.kept(1.5)), "out"),
              vector.at("expected").at("keep").get<std::vector<int>>());
  }
}

// A dense layer on a flattened map is a convolution whose window is the whole map: its kernel [unit][C][h][w]
// has the inputs in the order of a flattened [C][h][w].
TEST(PruneVectorsTest, FlattenedMapsLoseWholeChannels) {
  MASKFIT_REQUIRE_VECTORS();
  for (const json& vector : vector_group("prune_flatten")) {
    SCOPED_TRACE(vector.at("id").get<std::string>());
    const json& input = vector.at("input");
    ASSERT_EQ(input.at("layout"), "channels_first") << "the layout of our arrays";
    const int side = input.at("h").get<int>();
    ASSERT_EQ(side, input.at("w").get<int>());
    network::GraphBuilder graph({1, side, side});
    const std::string conv =
        graph.conv("conv", graph.input(), {.out_channels = input.at("channels").get<int>()});
    graph.conv("dense", conv, {.out_channels = 3, .kernel = side});
    network::Network network = graph.finish("flatten", {"dense"});
    weigh(network, "conv", input.at("keep").get<std::vector<int>>());
    number(network, "dense");
    const Pruner pruner(network, kPlain);
    EXPECT_EQ(first_filter(pruner.pruned(pruner.kept(1.5)), "dense"),
              vector.at("expected").at("keep").get<std::vector<int>>());
  }
}

}  // namespace
}  // namespace maskfit::prune
