#include "network/backbones.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "network/graph_builder.h"
#include "network/resnet.h"

namespace maskfit::network {
namespace {

struct Backbone {
  const char* name;
  int layers;
};

constexpr Backbone kBackbones[] = {{"resnet10", 10}, {"resnet18", 18}, {"resnet34", 34}, {"resnet50", 50}};

// Takes the backbone's blocks and returns the node that the heads look at.
struct Neck {
  const char* name;
  std::string (*append)(GraphBuilder& graph, const ResnetBlocks& blocks, bool use_batch_norm);
};

// One level of a feature pyramid (Lin et al., "Feature pyramid networks for object detection", 2017): block 4
// (stride 16, what it is) brought up to block 2 (stride 8, where it is), so faces of a few pixels get a cell
// of their own.
std::string append_fpn8(GraphBuilder& graph, const ResnetBlocks& blocks, bool use_batch_norm) {
  constexpr int kChannels = 128;
  const ConvOptions one_by_one{.out_channels = kChannels, .kernel = 1};
  const ConvOptions smooth{.out_channels = kChannels, .kernel = 3};
  const std::string top =
      graph.upsample("neck_upsample", graph.conv("neck_conv_top", blocks.last[3], one_by_one), 2);
  const std::string lateral = graph.conv("neck_conv_lateral", blocks.last[1], one_by_one);
  std::string x = graph.conv("neck_conv", graph.add("neck_add", top, lateral), smooth);
  if (use_batch_norm) x = graph.batch_norm("neck_bn", x);
  return graph.relu("neck_relu", x);
}

constexpr Neck kNecks[] = {{"fpn8", append_fpn8}};

template <typename Row, std::size_t n>
std::vector<std::string> names_of(const Row (&table)[n]) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  return names;
}

template <typename Row, std::size_t n>
const Row& find_row(const Row (&table)[n], const std::string& name, const char* kind) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const Row& row) { return row.name == name; });
  if (found != std::end(table)) return *found;
  const std::vector<std::string> known = names_of(table);
  const std::string nearest = base::nearest_name(name, known);
  throw base::Error(base::ExitCode::kRefused, fmt::format("there is no {} called '{}'", kind, name), "",
                    nearest.empty() ? fmt::format("use one of: {}", fmt::join(known, ", "))
                                    : fmt::format("did you mean '{}'?", nearest));
}

void refuse_unusable(const BackboneOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw base::Error(base::ExitCode::kRefused, what, "model_config", hint);
  };
  const Shape& in = options.input;
  if (options.use_pooling) {
    refuse("use_pooling gives a network of stride 224, which cannot detect faces", "leave use_pooling out");
  }
  if (options.classes < 1) refuse("a detector needs at least one class", "name the target classes");
  if (in.channels != 1 && in.channels != 3) {
    refuse(fmt::format("the input has {} channels", in.channels), "use 3 (colour) or 1 (grey)");
  }
  if (in.width <= 0 || in.height <= 0 || in.width % 16 != 0 || in.height % 16 != 0) {
    refuse(fmt::format("the input of {}x{} pixels is no multiple of 16", in.width, in.height),
           fmt::format("use {}x{}", std::max(16, (in.width + 8) / 16 * 16),
                       std::max(16, (in.height + 8) / 16 * 16)));
  }
}

// FNV-1a: the same on every machine, unlike std::hash.
std::uint64_t hash_name(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

void glorot_uniform(const std::string& name, std::uint64_t seed, Array& kernel) {
  const std::int64_t area = kernel.shape[2] * kernel.shape[3];
  const auto fan_sum = static_cast<float>((kernel.shape[0] + kernel.shape[1]) * area);
  const float limit = std::sqrt(6.0f / fan_sum);
  base::Rng rng(seed, base::Purpose::kInitialWeights, 0, hash_name(name));
  for (float& value : kernel.values) value = rng.uniform(-limit, limit);
}

}  // namespace

std::vector<std::string> backbone_names() {
  return names_of(kBackbones);
}
std::vector<std::string> neck_names() {
  return names_of(kNecks);
}

Network make_detectnet(const BackboneOptions& options) {
  const Backbone& backbone = find_row(kBackbones, options.backbone, "backbone");
  const Neck* neck = options.neck.empty() ? nullptr : &find_row(kNecks, options.neck, "neck");
  refuse_unusable(options);

  GraphBuilder graph(options.input);
  const ResnetBlocks blocks =
      append_resnet(graph, {backbone.layers, options.all_projections, options.use_batch_norm, options.width});
  const std::string features =
      neck ? neck->append(graph, blocks, options.use_batch_norm) : blocks.last.back();
  const std::string bbox = graph.conv("output_bbox", features, {.out_channels = 4 * options.classes});
  const std::string cov = graph.conv("output_cov", features, {.out_channels = options.classes});
  const std::string probability = graph.sigmoid("output_cov/Sigmoid", cov);

  std::string name = fmt::format("{}_nopool{}", backbone.name, options.use_batch_norm ? "_bn" : "");
  if (options.width != 1) name += fmt::format("_w{}", options.width);
  if (neck) name += fmt::format("_{}", neck->name);
  return graph.finish(name + "_detectnet_v2", {bbox, probability});
}

int block_of(const std::string& node_name) {
  if (node_name == "conv1" || node_name == "bn_conv1") return 0;
  constexpr std::string_view kPrefix = "block_";
  if (!node_name.starts_with(kPrefix)) return -1;
  int block = 0;
  std::size_t i = kPrefix.size();
  for (; i < node_name.size() && node_name[i] >= '0' && node_name[i] <= '9'; ++i)
    block = 10 * block + node_name[i] - '0';
  return i > kPrefix.size() ? block : -1;
}

void initialise(Network& network, std::uint64_t seed) {
  for (const WeightSlot& slot : weight_slots(network)) {
    Array& array = network.weights.at(slot.name);
    const bool ones = slot.name.ends_with("/gamma") || slot.name.ends_with("/moving_variance");
    if (slot.shape.size() == 4) {
      glorot_uniform(slot.name, seed, array);
    } else {
      std::fill(array.values.begin(), array.values.end(), ones ? 1.0f : 0.0f);
    }
  }
}

void set_coverage_prior(Network& network, float probability) {
  MASKFIT_CHECK(probability > 0 && probability < 1, "probability={}", probability);
  Array& bias = network.weights.at("output_cov/bias");
  std::fill(bias.values.begin(), bias.values.end(), std::log(probability / (1 - probability)));
}

void set_box_prior(Network& network, float distance) {
  MASKFIT_CHECK(distance > 0, "distance={}", distance);
  Array& bias = network.weights.at("output_bbox/bias");
  std::fill(bias.values.begin(), bias.values.end(), distance);
}

void shrink_head_kernels(Network& network, float factor) {
  for (const char* name : {"output_bbox/kernel", "output_cov/kernel"}) {
    for (float& value : network.weights.at(name).values) value *= factor;
  }
}

}  // namespace maskfit::network
