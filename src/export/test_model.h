#pragma once

// Small networks for the tests of this folder and of tests/golden. Included by tests only.

#include <algorithm>

#include "base/rng.h"
#include "export/exported_model.h"
#include "network/backbones.h"

namespace maskfit::exporting {

struct TestModelOptions {
  bool fold = true;        // batch norms folded
  bool neck = false;       // with upsampling
  bool pool = false;       // a padded max pool behind the stem
  bool depthwise = false;  // behind the stem a depthwise convolution, joined with what it reads
  float width = 0.125f;    // of a ResNet-10
};

// activation_1 -> [depthwise, itself] joined -> a convolution with the channels of old -> the readers of
// activation_1.
inline void insert_depthwise(network::Network& network) {
  const int channels = network::infer_shapes(network).at("activation_1").channels;
  network::Node depthwise, joined, mixed;
  depthwise.name = "dw";
  depthwise.op = network::Op::kDepthwise;
  depthwise.inputs = {"activation_1"};
  depthwise.kernel = 3;
  depthwise.padding = 1;
  joined.name = "joined";
  joined.op = network::Op::kConcat;
  joined.inputs = {"dw", "activation_1"};
  mixed.name = "mixed";
  mixed.op = network::Op::kConv;
  mixed.inputs = {"joined"};
  mixed.out_channels = channels;
  auto at = std::find_if(network.nodes.begin(), network.nodes.end(),
                         [](const network::Node& node) { return node.name == "activation_1"; });
  for (auto later = at + 1; later != network.nodes.end(); ++later) {
    std::replace(later->inputs.begin(), later->inputs.end(), std::string("activation_1"), mixed.name);
  }
  network.nodes.insert(at + 1, {depthwise, joined, mixed});
  base::Rng rng(9, base::Purpose::kTest);
  for (const network::WeightSlot& slot : network::weight_slots(network)) {
    network::Array& array = network.weights[slot.name];
    if (!array.values.empty()) continue;
    array.shape = slot.shape;
    array.values.resize(static_cast<std::size_t>(array.size()));
    for (float& value : array.values) value = rng.uniform(-0.4f, 0.4f);
  }
}

// 3 x 48 x 64, classes "mask" and "no-mask", random weights, batch norms that do something.
inline ExportedModel test_model(const TestModelOptions& options) {
  network::BackboneOptions backbone;
  backbone.backbone = "resnet10";
  backbone.input = {3, 48, 64};
  backbone.classes = 2;
  backbone.width = options.width;
  if (options.neck) backbone.neck = network::neck_names().front();
  ExportedModel exported;
  network::Model& model = exported.model;
  model.network = network::make_detectnet(backbone);
  network::initialise(model.network, 11);
  base::Rng rng(5, base::Purpose::kTest);
  for (auto& [name, array] : model.network.weights) {
    if (name.ends_with("/kernel")) continue;
    const bool positive = name.ends_with("/gamma") || name.ends_with("/moving_variance");
    for (float& value : array.values) value = positive ? rng.uniform(0.5f, 1.5f) : rng.uniform(-0.3f, 0.3f);
  }
  if (options.pool) {
    network::Node pool;
    pool.name = "pool1";
    pool.op = network::Op::kMaxPool;
    pool.inputs = {"activation_1"};
    pool.kernel = 3;
    pool.padding = 1;
    auto at = std::find_if(model.network.nodes.begin(), model.network.nodes.end(),
                           [](const network::Node& node) { return node.name == "activation_1"; });
    at = model.network.nodes.insert(at + 1, pool);
    for (++at; at != model.network.nodes.end(); ++at) {
      std::replace(at->inputs.begin(), at->inputs.end(), std::string("activation_1"), pool.name);
    }
  }
  if (options.depthwise) insert_depthwise(model.network);
  model.class_names = {"mask", "no-mask"};
  model.provenance = {{"note", "made for a test"}};
  if (options.fold) model.network = fold_batch_norms(model.network);
  return exported;
}

// Random numbers 0..1 for its input.
inline std::vector<float> test_pixels(std::uint64_t seed) {
  base::Rng rng(seed, base::Purpose::kTest);
  std::vector<float> pixels(3 * 48 * 64);
  for (float& pixel : pixels) pixel = rng.uniform();
  return pixels;
}

}  // namespace maskfit::exporting
