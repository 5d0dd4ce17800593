#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/upsample_nearest2d_backward.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "base/error.h"
#include "model/detector_impl.h"
#include "tensor/array.h"

namespace maskfit::model {

using network::Node;
using network::Op;

std::vector<at::Tensor> Detector::Impl::backward(const at::Tensor& loss) {
  MASKFIT_CHECK(last_outputs.bbox.defined(), "backward() needs a forward(images, true) of its own before it");
  tensor::check_shape(loss, {}, "loss");
  const std::vector<at::Tensor> leaves = {last_outputs.bbox, last_outputs.cov_logits};
  std::vector<at::Tensor> seeds = torch::autograd::grad({loss}, leaves, {}, {}, false, /*allow_unused=*/true);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (!seeds[i].defined()) seeds[i] = at::zeros_like(leaves[i]);
  }
  last_outputs = {};
  gradients.assign(network.nodes.size(), {});
  array_gradients.assign(network.nodes.size(), {});
  if (gradient_slots.empty()) list_gradients();
  reported.assign(gradient_slots.size(), false);
  add_gradient(plan.bbox, seeds[0], false);
  add_gradient(plan.cov_logits, seeds[1], false);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (step->needs_gradient && !step->merged) run_backward(*step);
    // Every reader of this node is done, and so is the node.
    value(step->node).reset();
    kept_of(step->node) = {};
    if (!step->merged) gradients[static_cast<std::size_t>(step->node)] = {};
    if (gradient_ready) report_gradients(*step);
  }
  return collect_gradients();
}

void Detector::Impl::run_backward(const Step& step) {
  const Node& here = node(step);
  if (step.stem && stem_norm >= 0) return;  // done with its norm
  if (network::is_convolution(here.op)) return backward_conv(step);
  NodeGradient& gathered = gradients[static_cast<std::size_t>(step.node)];
  const bool fused = runs_fusions();
  if (fused && step.in_fusion) return;
  if (fused && step.fusion.exists()) return backward_fusion(step);
  if (!gathered.value.defined()) return;  // the coverage output's sigmoid, which belongs to the loss
  const at::Tensor gradient = gathered.value;
  switch (here.op) {
    case Op::kBatchNorm:
      return backward_batch_norm(step, gradient);
    case Op::kRelu: {
      at::Tensor out = gradient;
      if (gathered.shared) {
        out = at::threshold_backward(gradient, value(step.node), 0);
      } else {
        at::threshold_backward_out(out, gradient, value(step.node), 0);
      }
      return add_gradient(step.inputs[0], out, false);
    }
    case Op::kAdd:
      for (const int input : step.inputs) add_gradient(input, gradient, true);
      return;
    case Op::kUpsample: {
      const auto sizes = gradient.sizes();
      return add_gradient(step.inputs[0],
                          at::upsample_nearest2d_backward(
                              gradient, {sizes[2], sizes[3]},
                              {sizes[0], sizes[1], sizes[2] / here.factor, sizes[3] / here.factor}),
                          false);
    }
    case Op::kMaxPool:
      return backward_max_pool(step, gradient);
    case Op::kConcat: {
      std::int64_t channel = 0;
      const std::vector<std::int64_t> channels = kept_of(step.node).channels;
      for (std::size_t i = 0; i < channels.size(); ++i) {
        add_gradient(step.inputs[i], gradient.narrow(1, channel, channels[i]).contiguous(format), false);
        channel += channels[i];
      }
      return;
    }
    case Op::kConv:
    case Op::kDepthwise:
    case Op::kInput:
    case Op::kSigmoid:
      return;
  }
}

void Detector::Impl::backward_conv(const Step& step) {
  const Node& here = node(step);
  std::vector<at::Tensor> parts;
  bool trains = false;
  for (const int member : step.group) {
    parts.push_back(gradients[static_cast<std::size_t>(member)].value);
    MASKFIT_CHECK(parts.back().defined(), "no gradient reached '{}'", here.name);
    trains |= !arrays_of(member).frozen;
  }
  const at::Tensor gradient = (parts.size() == 1 ? parts[0] : at::cat(parts, 1)).contiguous(format);
  if (step.stem && pictures_folded) return backward_stem(step, gradient);
  const bool to_input = plan.steps[static_cast<std::size_t>(step.inputs[0])].needs_gradient;
  const bool to_bias = trains && here.bias && !step.bias_in_batch_norm;
  const at::Tensor kernel = conv_kernel(step);
  const std::int64_t dilation = dilation_of(here);
  const std::int64_t groups = groups_of(here, kernel);
  // A 1 x 1 window with a stride reads every second pixel only, and so its gradient is three quarters zeros.
  const bool compact = to_input && here.kernel == 1 && here.stride > 1 && here.padding == 0 && !step.head &&
                       groups == 1 && takes_two_gradients(step.inputs[0]);
  at::Tensor to_x, to_kernel, to_b;
  if (splits_head(step)) {
    const HeadGradients head = backward_split_head(value(step.inputs[0]), kernel, gradient, to_input);
    to_x = head.pixels, to_kernel = head.kernel, to_b = head.bias;
  } else {
    std::tie(to_x, to_kernel, to_b) = at::convolution_backward(
        gradient, conv_input(step), kernel, at::IntArrayRef{kernel.size(0)}, {here.stride, here.stride},
        {here.padding, here.padding}, {dilation, dilation}, false, {0, 0}, groups,
        {to_input && !compact, trains, to_bias});
  }
  if (compact) {
    const at::Tensor read_pixels =
        at::empty({gradient.size(0), kernel.size(1), gradient.size(2), gradient.size(3)}, gradient.options(),
                  format);  // for its sizes alone
    to_x = std::get<0>(
        at::convolution_backward(gradient, read_pixels, kernel, at::IntArrayRef{kernel.size(0)}, {1, 1},
                                 {0, 0}, {dilation, dilation}, false, {0, 0}, 1, {true, false, false}));
  }
  if (to_input) {
    add_gradient(step.inputs[0], to_x.to(value(step.inputs[0]).scalar_type()), false,
                 compact ? here.stride : 1);
  }
  std::int64_t channel = 0;
  for (const int member : step.group) {
    const std::int64_t channels = arrays_of(member).kernel.size(0);
    ArrayGradients& own = array_gradients[static_cast<std::size_t>(member)];
    if (trains) own.kernel = to_kernel.narrow(0, channel, channels);
    if (to_bias) own.bias = to_b.narrow(0, channel, channels);
    channel += channels;
    gradients[static_cast<std::size_t>(member)] = {};
  }
}

void Detector::Impl::backward_batch_norm(const Step& step, const at::Tensor& gradient) {
  const Node& here = node(step);
  const NodeArrays& norm = arrays_of(step.node);
  const Kept& keep = kept_of(step.node);
  const at::Tensor& in = value(step.inputs[0]);
  const bool batch_statistics = !options.freeze_bn;
  if (batch_statistics && options.norm_over) return backward_batch_norm_over_ranks(step, gradient);
  const bool to_input = plan.steps[static_cast<std::size_t>(step.inputs[0])].needs_gradient;
  ArrayGradients& own = array_gradients[static_cast<std::size_t>(step.node)];
  at::Tensor to_x;
  if (batch_statistics) {
    std::tie(to_x, own.gamma, own.beta) = at::native_batch_norm_backward(
        gradient, in, norm.gamma, {}, {}, keep.mean, keep.invstd, true, here.epsilon, {to_input, true, true});
  } else {
    std::tie(to_x, own.gamma, own.beta) =
        at::native_batch_norm_backward(gradient, in, norm.gamma, keep.mean, norm.variance, {}, {}, false,
                                       here.epsilon, {to_input, true, true});
  }
  if (to_input) add_gradient(step.inputs[0], to_x, false);
  if (step.conv < 0 || batch_statistics) return;
  // y = gamma * invstd * (x + bias - mean) + beta, so dL/dbias = gamma * invstd * dL/dbeta.
  const at::Tensor invstd = at::rsqrt(norm.variance.add(here.epsilon));
  array_gradients[static_cast<std::size_t>(step.conv)].bias = own.beta.mul(norm.gamma).mul_(invstd);
}

// With g = dL/dy of this rank's loss L and n pixels of every rank, as in fused_norm.h:
//   dL/dbeta = sum g, dL/dgamma = sum g * x_hat                      (of this rank; their mean is taken
//   later) dL/dx = gamma * invstd * (g - mean over ranks of dL/dbeta / n - x_hat * mean over ranks of
//   dL/dgamma / n)
void Detector::Impl::backward_batch_norm_over_ranks(const Step& step, const at::Tensor& gradient) {
  const NodeArrays& norm = arrays_of(step.node);
  const Kept& keep = kept_of(step.node);
  const at::Tensor& in = value(step.inputs[0]);
  ArrayGradients& own = array_gradients[static_cast<std::size_t>(step.node)];
  const auto wide = [](const at::Tensor& channel) { return channel.view({1, -1, 1, 1}); };
  const at::Tensor g = gradient.to(at::kFloat);
  const at::Tensor x_hat = in.to(at::kFloat).sub(wide(keep.mean)).mul_(wide(keep.invstd));
  own.beta = g.sum(at::IntArrayRef{0, 2, 3});
  own.gamma = g.mul(x_hat).sum(at::IntArrayRef{0, 2, 3});
  const std::int64_t channels = own.beta.size(0);
  const at::Tensor sums = at::cat({own.beta, own.gamma}).to(at::kDouble);
  options.norm_over->mean(sums);
  if (!plan.steps[static_cast<std::size_t>(step.inputs[0])].needs_gradient) return;
  const double pixels = static_cast<double>(g.numel() / channels);
  const at::Tensor means = sums.div(pixels).to(at::kFloat);
  at::Tensor to_x = g.sub(wide(means.narrow(0, 0, channels)));
  to_x.sub_(x_hat.mul(wide(means.narrow(0, channels, channels))));
  to_x.mul_(wide(norm.gamma.mul(keep.invstd)));
  add_gradient(step.inputs[0], to_x.to(in.scalar_type()).contiguous(format), false);
}

void Detector::Impl::backward_max_pool(const Step& step, const at::Tensor& gradient) {
  const Node& here = node(step);
  const Kept& keep = kept_of(step.node);
  at::Tensor to_x = at::max_pool2d_with_indices_backward(
      gradient, keep.padded, {here.kernel, here.kernel}, {here.stride, here.stride}, {0, 0},
      {here.dilation, here.dilation}, false, keep.max_indices);
  const std::int64_t p = here.padding;
  to_x = to_x.narrow(2, p, to_x.size(2) - 2 * p).narrow(3, p, to_x.size(3) - 2 * p);
  add_gradient(step.inputs[0], to_x.contiguous(format), false);
}

void Detector::Impl::add_gradient(int node, const at::Tensor& gradient, bool shared, int stride) {
  if (!plan.steps[static_cast<std::size_t>(node)].needs_gradient) return;
  NodeGradient& gathered = gradients[static_cast<std::size_t>(node)];
  const bool as_second = stride > 1 || (gathered.value.defined() && takes_two_gradients(node));
  if (as_second && !gathered.second.defined()) {
    gathered.second = gradient;
    gathered.second_stride = stride;
    return;
  }
  MASKFIT_CHECK(stride == 1, "'{}' has two compact gradients",
                network.nodes[static_cast<std::size_t>(node)].name);
  if (!gathered.value.defined()) {
    gathered.value = gradient;
    gathered.shared = shared;
  } else if (!gathered.shared) {
    gathered.value.add_(gradient);
  } else if (!shared) {
    at::Tensor sum = gradient;
    gathered.value = sum.add_(gathered.value);
    gathered.shared = false;
  } else {
    gathered.value = gathered.value.add(gradient);
    gathered.shared = false;
  }
}

void Detector::Impl::list_gradients() {
  for_each_slot([&](const network::WeightSlot& slot, std::size_t node) {
    if (!slot.trainable || (network::is_convolution(slot.op) && arrays[node].frozen)) return;
    const std::string array = slot.name.substr(slot.node.size() + 1);
    gradient_slots.push_back({static_cast<int>(node),
                              array == "kernel"  ? &ArrayGradients::kernel
                              : array == "bias"  ? &ArrayGradients::bias
                              : array == "gamma" ? &ArrayGradients::gamma
                                                 : &ArrayGradients::beta,
                              slot.shape});
  });
}

// What a step, or the group that it leads, has finished.
void Detector::Impl::report_gradients(const Step& step) {
  for (std::size_t i = 0; i < gradient_slots.size(); ++i) {
    const GradientSlot& slot = gradient_slots[i];
    const bool here = slot.node == step.node ||
                      std::find(step.group.begin(), step.group.end(), slot.node) != step.group.end();
    const at::Tensor& gradient = array_gradients[static_cast<std::size_t>(slot.node)].*slot.array;
    if (!here || reported[i] || !gradient.defined()) continue;
    reported[i] = true;
    gradient_ready(i, gradient);
  }
}

// In the order of parameters(). The bias under a batch norm of batch statistics gets its zeros here.
std::vector<at::Tensor> Detector::Impl::collect_gradients() {
  std::vector<at::Tensor> list;
  for (const GradientSlot& slot : gradient_slots) {
    const at::Tensor& gradient = array_gradients[static_cast<std::size_t>(slot.node)].*slot.array;
    list.push_back(gradient.defined() ? gradient
                                      : at::zeros(slot.shape, at::TensorOptions(device).dtype(at::kFloat)));
  }
  array_gradients.clear();
  return list;
}

}  // namespace maskfit::model
