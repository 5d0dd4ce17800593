#include "network/resnet.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace maskfit::network {
namespace {

struct Layout {
  std::array<int, 4> units;  // per block
  bool bottleneck = false;
};

Layout layout_of(int layers) {
  switch (layers) {
    case 10:
      return {{1, 1, 1, 1}, false};
    case 18:
      return {{2, 2, 2, 2}, false};
    case 34:
      return {{3, 4, 6, 3}, false};
    case 50:
      return {{3, 4, 6, 3}, true};
    default:
      MASKFIT_CHECK(false, "no ResNet layout for {} layers", layers);
  }
}

int scaled_channels(int channels, float width) {
  return std::max(8, static_cast<int>(std::lround(static_cast<float>(channels) * width / 8)) * 8);
}

// Appends units; holds what all of them share.
class UnitBuilder {
 public:
  UnitBuilder(GraphBuilder& graph, const ResnetOptions& options, bool bottleneck)
      : graph_(graph), options_(options), bottleneck_(bottleneck) {}

  // prefix: "block_2a". first: the block's first unit, whose shortcut is always projected, even where shapes
  // agree.
  std::string append(const std::string& prefix, const std::string& from, int filters, int stride,
                     bool first) {
    std::string main = from;
    const int convs = bottleneck_ ? 3 : 2;
    for (int i = 1; i <= convs; ++i) {
      const bool last = i == convs;
      ConvOptions conv{.out_channels = filters, .kernel = 3, .stride = i == 1 ? stride : 1};
      if (bottleneck_ && i != 2) conv.kernel = 1;
      if (bottleneck_ && last) conv.out_channels = 4 * filters;
      main = conv_bn(fmt::format("{}_conv_{}", prefix, i), fmt::format("{}_bn_{}", prefix, i), main, conv);
      if (!last) main = graph_.relu(fmt::format("{}_relu_{}", prefix, i), main);
    }
    std::string shortcut = from;
    if (first || options_.all_projections) {
      const ConvOptions projection{
          .out_channels = bottleneck_ ? 4 * filters : filters, .kernel = 1, .stride = stride};
      shortcut = conv_bn(prefix + "_conv_shortcut", prefix + "_bn_shortcut", from, projection);
    }
    return graph_.relu(prefix + "_relu", graph_.numbered_add(main, shortcut));
  }

  std::string conv_bn(const std::string& conv_name, const std::string& bn_name, const std::string& from,
                      const ConvOptions& conv) {
    const std::string out = graph_.conv(conv_name, from, conv);
    return options_.use_batch_norm ? graph_.batch_norm(bn_name, out) : out;
  }

 private:
  GraphBuilder& graph_;
  const ResnetOptions& options_;
  const bool bottleneck_;
};

}  // namespace

ResnetBlocks append_resnet(GraphBuilder& graph, const ResnetOptions& options) {
  const Layout layout = layout_of(options.layers);
  UnitBuilder units(graph, options, layout.bottleneck);
  std::string x =
      units.conv_bn("conv1", "bn_conv1", graph.input(),
                    {.out_channels = scaled_channels(64, options.width), .kernel = 7, .stride = 2});
  x = graph.relu("activation_1", x);

  constexpr std::array<int, 4> kFilters = {64, 128, 256, 512};
  constexpr std::array<int, 4> kStrides = {2, 2, 2, 1};
  ResnetBlocks blocks;
  for (std::size_t block = 0; block < 4; ++block) {
    for (int unit = 0; unit < layout.units[block]; ++unit) {
      const std::string prefix = fmt::format("block_{}{}", block + 1, static_cast<char>('a' + unit));
      x = units.append(prefix, x, scaled_channels(kFilters[block], options.width),
                       unit == 0 ? kStrides[block] : 1, unit == 0);
    }
    blocks.last.push_back(x);
  }
  return blocks;
}

}  // namespace maskfit::network
