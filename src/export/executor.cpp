#include "export/executor.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "export/convolution.h"
#include "export/quantise.h"
#include "formats/float16.h"

namespace maskfit::exporting {
namespace {

using network::Network;
using network::Node;
using network::Op;
using network::Shape;

using Values = std::vector<float>;

// One node, ready to run.
struct Step {
  const Node* node = nullptr;
  Shape in, out;
  std::vector<int> inputs;    // places of the nodes it reads
  std::vector<float> scales;  // one an input: above 0, its 8-bit version is read
  std::vector<int> last_use;  // nodes whose values nobody reads afterwards
  std::optional<Convolution> conv;
  Values factor, offset;  // kBatchNorm: y = x * factor + offset by channel; kDepthwise: kernel and bias
};

std::size_t size_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.channels) * shape.height * shape.width;
}

void max_pool(const Step& step, const float* in, float* out) {
  const Node& n = *step.node;
  for (int c = 0; c < step.out.channels; ++c) {
    const float* plane = in + static_cast<std::size_t>(c) * step.in.height * step.in.width;
    for (int oy = 0; oy < step.out.height; ++oy) {
      for (int ox = 0; ox < step.out.width; ++ox) {
        float best = -INFINITY;
        for (int k = 0; k < n.kernel * n.kernel; ++k) {
          const int y = oy * n.stride - n.padding + k / n.kernel * n.dilation;
          const int x = ox * n.stride - n.padding + k % n.kernel * n.dilation;
          const bool inside = y >= 0 && y < step.in.height && x >= 0 && x < step.in.width;
          best = std::max(best, inside ? plane[static_cast<std::size_t>(y) * step.in.width + x] : 0.0f);
        }
        *out++ = best;
      }
    }
  }
}

// Filters of single channels, straight from the definition: few products, so no matrix to make.
void depthwise(const Step& step, const float* in, float* out) {
  const Node& n = *step.node;
  for (int c = 0; c < step.out.channels; ++c) {
    const float* plane = in + static_cast<std::size_t>(c) * step.in.height * step.in.width;
    const float* kernel = step.factor.data() + static_cast<std::size_t>(c) * n.kernel * n.kernel;
    const float bias = step.offset.empty() ? 0.0f : step.offset[static_cast<std::size_t>(c)];
    for (int oy = 0; oy < step.out.height; ++oy) {
      for (int ox = 0; ox < step.out.width; ++ox) {
        float sum = bias;
        for (int k = 0; k < n.kernel * n.kernel; ++k) {
          const int y = oy * n.stride - n.padding + k / n.kernel * n.dilation;
          const int x = ox * n.stride - n.padding + k % n.kernel * n.dilation;
          if (y < 0 || y >= step.in.height || x < 0 || x >= step.in.width) continue;
          sum += kernel[k] * plane[static_cast<std::size_t>(y) * step.in.width + x];
        }
        *out++ = sum;
      }
    }
  }
}

void upsample(const Step& step, const float* in, float* out) {
  const int factor = step.node->factor;
  for (int c = 0; c < step.out.channels; ++c) {
    for (int y = 0; y < step.out.height; ++y) {
      const float* line = in + (static_cast<std::size_t>(c) * step.in.height + y / factor) * step.in.width;
      for (int x = 0; x < step.out.width; ++x) *out++ = line[x / factor];
    }
  }
}

Values rounded_to_half(const Values& values) {
  Values rounded = values;
  for (float& value : rounded) value = formats::float_from_float16(formats::float16_from_float(value));
  return rounded;
}

}  // namespace

struct Executor::Impl {
  explicit Impl(const ExportedModel& exported)
      : network(exported.model.network), half(exported.precision == Precision::kFloat16) {
    const auto shapes = network::infer_shapes(network);
    std::map<std::string, int> places;
    for (const Node& node : network.nodes) places.emplace(node.name, static_cast<int>(places.size()));
    for (const Node& node : network.nodes) {
      Step step;
      step.node = &node;
      step.out = shapes.at(node.name);
      step.in = node.inputs.empty() ? step.out : shapes.at(node.inputs[0]);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        step.inputs.push_back(places.at(node.inputs[i]));
        const bool integers = exported.quantisation.edges.contains({node.name, static_cast<int>(i)});
        step.scales.push_back(integers ? exported.quantisation.scales.at(node.inputs[i]) : 0.0f);
      }
      if (node.op == Op::kConv) prepare_conv(exported, step);
      if (node.op == Op::kBatchNorm) prepare_norm(step);
      if (node.op == Op::kDepthwise) {
        step.factor = weights(node.name + "/kernel");
        if (node.bias) step.offset = weights(node.name + "/bias");
      }
      steps.push_back(std::move(step));
    }
    find_last_uses();
    bbox = places.at(network.outputs.at(0));
    cov = places.at(network.outputs.at(1));
  }

  Values weights(const std::string& name) const {
    const Values& values = network.weights.at(name).values;
    return half ? rounded_to_half(values) : values;
  }

  void prepare_conv(const ExportedModel& exported, Step& step) const {
    const Node& n = *step.node;
    const ConvShape shape{step.in, step.out, n.kernel, n.stride, n.padding, n.dilation};
    const Values bias = n.bias ? weights(n.name + "/bias") : Values();
    const auto scales = exported.quantisation.weight_scales.find(n.name);
    if (scales == exported.quantisation.weight_scales.end() || step.scales[0] == 0) {
      step.conv.emplace(shape, weights(n.name + "/kernel"), bias);
      return;
    }
    step.conv.emplace(shape, quantised_kernel(network.weights.at(n.name + "/kernel"), scales->second),
                      scales->second, step.scales[0], bias);
  }

  void prepare_norm(Step& step) const {
    const std::string& name = step.node->name;
    const Values gamma = weights(name + "/gamma"), beta = weights(name + "/beta"),
                 mean = weights(name + "/moving_mean"), variance = weights(name + "/moving_variance");
    for (std::size_t c = 0; c < gamma.size(); ++c) {
      const double factor = gamma[c] / std::sqrt(static_cast<double>(variance[c]) + step.node->epsilon);
      step.factor.push_back(static_cast<float>(factor));
      step.offset.push_back(static_cast<float>(beta[c] - mean[c] * factor));
    }
  }

  void find_last_uses() {
    std::vector<int> last(steps.size(), -1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const int input : steps[i].inputs) last[static_cast<std::size_t>(input)] = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool output =
          steps[i].node->name == network.outputs[0] || steps[i].node->name == network.outputs[1];
      if (last[i] >= 0 && !output)
        steps[static_cast<std::size_t>(last[i])].last_use.push_back(static_cast<int>(i));
    }
  }

  // What input `i` of the step reads; `rounded` holds the numbers that went through 8 bit.
  static const float* read(const Step& step, std::size_t i, const std::vector<Values>& values,
                           Values& rounded) {
    const Values& from = values[static_cast<std::size_t>(step.inputs[i])];
    const float scale = step.scales[i];
    if (scale == 0) return from.data();
    std::vector<std::int8_t> integers(from.size());
    quantise_row(from.data(), scale, static_cast<std::int64_t>(from.size()), integers.data());
    rounded.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) rounded[k] = static_cast<float>(integers[k]) * scale;
    return rounded.data();
  }

  static void run_conv(const Step& step, const Values& from, float* out, int threads) {
    if (!step.conv->integers()) {
      step.conv->run(from.data(), out, threads);
      return;
    }
    std::vector<std::int8_t> integers(from.size());
    quantise_row(from.data(), step.scales[0], static_cast<std::int64_t>(from.size()), integers.data());
    step.conv->run(integers.data(), out, threads);
  }

  static void run_step(const Step& step, const std::vector<Values>& values, float* out, int threads) {
    const std::size_t count = size_of(step.out);
    Values first, second;
    if (step.node->op == Op::kConv) {
      run_conv(step, values[static_cast<std::size_t>(step.inputs[0])], out, threads);
      return;
    }
    const float* in = read(step, 0, values, first);
    switch (step.node->op) {
      case Op::kRelu:
        relu_row(in, static_cast<std::int64_t>(count), out);
        return;
      case Op::kSigmoid:
        for (std::size_t k = 0; k < count; ++k) out[k] = 1.0f / (1.0f + std::exp(-in[k]));
        return;
      case Op::kAdd:
        std::copy_n(in, count, out);
        for (std::size_t i = 1; i < step.inputs.size(); ++i) {
          add_row(out, read(step, i, values, second), static_cast<std::int64_t>(count), out);
        }
        return;
      case Op::kBatchNorm:
        for (std::size_t c = 0; c < step.factor.size(); ++c) {
          const std::size_t plane = count / step.factor.size();
          for (std::size_t k = c * plane; k < (c + 1) * plane; ++k)
            out[k] = in[k] * step.factor[c] + step.offset[c];
        }
        return;
      case Op::kConcat:
        std::copy_n(in, values[static_cast<std::size_t>(step.inputs[0])].size(), out);
        for (std::size_t i = 1; i < step.inputs.size(); ++i) {
          out += values[static_cast<std::size_t>(step.inputs[i - 1])].size();
          std::copy_n(read(step, i, values, second), values[static_cast<std::size_t>(step.inputs[i])].size(),
                      out);
        }
        return;
      case Op::kDepthwise:
        depthwise(step, in, out);
        return;
      case Op::kMaxPool:
        max_pool(step, in, out);
        return;
      case Op::kUpsample:
        upsample(step, in, out);
        return;
      default:
        MASKFIT_CHECK(false, "node '{}': op={}", step.node->name, static_cast<int>(step.node->op));
    }
  }

  Grids run(std::span<const float> pixels, int threads, const Tap& tap) const {
    MASKFIT_CHECK(pixels.size() == size_of(network.input), "{} pixels for {}x{}x{}", pixels.size(),
                  network.input.channels, network.input.height, network.input.width);
    std::vector<Values> values(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      values[i].resize(size_of(step.out));
      if (step.node->op == Op::kInput) {
        std::copy(pixels.begin(), pixels.end(), values[i].begin());
      } else {
        run_step(step, values, values[i].data(), threads);
      }
      if (half) values[i] = rounded_to_half(values[i]);
      if (tap) tap(*step.node, values[i]);
      for (const int done : step.last_use) Values().swap(values[static_cast<std::size_t>(done)]);
    }
    const Shape& grid = steps[static_cast<std::size_t>(cov)].out;
    Grids grids;
    grids.geometry = {network.input.width, network.input.height, grid.width, grid.height};
    grids.classes = grid.channels;
    grids.coverage = std::move(values[static_cast<std::size_t>(cov)]);
    grids.box = std::move(values[static_cast<std::size_t>(bbox)]);
    return grids;
  }

  const Network network;
  const bool half;
  std::vector<Step> steps;  // one a node, in node order
  int bbox = 0, cov = 0;
};

Executor::Executor(const ExportedModel& exported) : impl_(std::make_unique<Impl>(exported)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;

Grids Executor::run(std::span<const float> pixels, int threads, const Tap& tap) const {
  return impl_->run(pixels, threads, tap);
}

std::vector<Grids> Executor::run(const std::vector<std::span<const float>>& pictures) const {
  std::vector<Grids> grids(pictures.size());
  if (pictures.size() == 1) {
    grids[0] = run(pictures[0]);
    return grids;
  }
  base::parallel_for(static_cast<std::int64_t>(pictures.size()), [&](std::int64_t i) {
    grids[static_cast<std::size_t>(i)] = run(pictures[static_cast<std::size_t>(i)], /*threads=*/1);
  });
  return grids;
}

}  // namespace maskfit::exporting
