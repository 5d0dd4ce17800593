#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_reciprocal.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/var_mean.h>

#include <map>

#include "base/error.h"
#include "model/detector_impl.h"
#include "tensor/array.h"
#include "tensor/version.h"

namespace maskfit::model {

using network::Node;
using network::Op;

Outputs Detector::Impl::forward(const at::Tensor& images, bool training) {
  MASKFIT_CHECK(!(training && folded), "'{}' was folded for inference and trains no more", network.name);
  const network::Shape& in = network.input;
  tensor::check_shape(images, {-1, in.channels, in.height, in.width}, "images");
  const at::NoGradGuard no_grad;
  last_outputs = {};
  refresh_compute_kernels();
  values.assign(network.nodes.size(), {});
  kept.assign(network.nodes.size(), {});
  const bool fused = training && runs_fusions();
  pictures_folded = false;
  stem_norm = -1;
  if (fused && plan.has_stem) {
    fold_pictures(images);
  } else {
    values[0] =
        images.to(at::TensorOptions(device).dtype(type), /*non_blocking=*/true, /*copy=*/false, format);
  }
  for (const Step& step : plan.steps) {
    if (node(step).op == Op::kInput || step.merged) continue;
    if (fused && (step.fusion.exists() || step.in_fusion)) {
      if (node(step).op == Op::kBatchNorm) run_statistics(step);
      if (step.fusion.exists()) value(step.node) = run_fusion(step);
    } else {
      value(step.node) = run(step, training);
    }
    for (const int input : step.last_use) {
      if (!training || !plan.steps[static_cast<std::size_t>(input)].saved) value(input).reset();
    }
  }
  if (training && !options.freeze_bn) update_moving_statistics();
  const Outputs outputs = make_outputs(training);
  if (training) {
    last_outputs = outputs;
  } else {
    values.clear();
    kept.clear();
  }
  return outputs;
}

at::Tensor Detector::Impl::run(const Step& step, bool training) {
  const Node& here = node(step);
  const at::Tensor& first = value(step.inputs[0]);
  switch (here.op) {
    case Op::kConv:
    case Op::kDepthwise:
      return run_conv(step);
    case Op::kBatchNorm:
      return run_batch_norm(step, training);
    case Op::kRelu:
      return step.in_place ? at::relu_(value(step.inputs[0])) : at::relu(first);
    case Op::kAdd: {
      at::Tensor sum = step.in_place ? first : at::add(first, value(step.inputs[1]));
      for (std::size_t i = step.in_place ? 1 : 2; i < step.inputs.size(); ++i)
        sum.add_(value(step.inputs[i]));
      return sum;
    }
    case Op::kConcat: {
      std::vector<at::Tensor> parts;
      kept_of(step.node).channels.clear();
      for (const int input : step.inputs) {
        parts.push_back(value(input));
        kept_of(step.node).channels.push_back(parts.back().size(1));
      }
      return at::cat(parts, 1);
    }
    case Op::kUpsample:
      return at::upsample_nearest2d(first, {first.size(2) * here.factor, first.size(3) * here.factor});
    case Op::kMaxPool:
      return run_max_pool(step);
    case Op::kSigmoid:  // the coverage output, see make_outputs()
    case Op::kInput:
      return first;
  }
  MASKFIT_CHECK(false, "node '{}'", here.name);
}

at::Tensor Detector::Impl::run_conv(const Step& step) {
  const Node& here = node(step);
  if (step.stem && pictures_folded) return run_stem(step);
  at::Tensor bias = arrays_of(step.node).compute_bias;
  if (step.group.size() > 1 && here.bias) {
    std::vector<at::Tensor> biases;
    for (const int member : step.group) biases.push_back(arrays_of(member).compute_bias);
    bias = at::cat(biases);
  }
  const std::int64_t dilation = dilation_of(here);
  const at::Tensor kernel = conv_kernel(step);
  const at::Tensor out = splits_head(step)
                             ? run_split_head(value(step.inputs[0]), kernel, bias)
                             : at::convolution(conv_input(step), kernel, bias, {here.stride, here.stride},
                                               {here.padding, here.padding}, {dilation, dilation}, false,
                                               {0, 0}, groups_of(here, kernel));
  std::int64_t channel = here.out_channels;
  for (std::size_t i = 1; i < step.group.size(); ++i) {
    const std::int64_t channels = arrays_of(step.group[i]).kernel.size(0);
    value(step.group[i]) = out.narrow(1, channel, channels);
    channel += channels;
  }
  return step.group.size() > 1 ? out.narrow(1, 0, here.out_channels) : out;
}

at::Tensor Detector::Impl::run_batch_norm(const Step& step, bool training) {
  const at::Tensor& in = value(step.inputs[0]);
  if (folded && step.conv >= 0) return in;
  const Node& here = node(step);
  const NodeArrays& norm = arrays_of(step.node);
  Kept& keep = kept_of(step.node);
  at::Tensor out;
  if (training && !options.freeze_bn && options.norm_over) return run_batch_norm_over_ranks(step);
  if (training && !options.freeze_bn) {
    std::tie(out, keep.mean, keep.invstd) =
        at::native_batch_norm(in, norm.gamma, norm.beta, {}, {}, /*training=*/true, 0.0, here.epsilon);
    return out;
  }
  // The convolution has left its bias out: x + bias - mean = x - (mean - bias).
  keep.mean = norm.mean;
  if (step.conv >= 0 && plan.steps[static_cast<std::size_t>(step.conv)].bias_in_batch_norm) {
    keep.mean = norm.mean.sub(arrays_of(step.conv).bias);
  }
  return std::get<0>(at::native_batch_norm(in, norm.gamma, norm.beta, keep.mean, norm.variance,
                                           /*training=*/false, 0.0, here.epsilon));
}

// Every rank has as many pictures: the mean over all is the mean of the ranks' means, and so for the squares,
// in double precision because their difference is the variance.
at::Tensor Detector::Impl::run_batch_norm_over_ranks(const Step& step) {
  const at::Tensor& in = value(step.inputs[0]);
  const Node& here = node(step);
  const NodeArrays& norm = arrays_of(step.node);
  Kept& keep = kept_of(step.node);
  const auto [own_variance, own_mean] =
      at::var_mean(in.to(at::kFloat), at::IntArrayRef{0, 2, 3}, /*unbiased=*/false, /*keepdim=*/false);
  const at::Tensor mean = own_mean.to(at::kDouble);
  const at::Tensor statistics = at::cat({mean, own_variance.to(at::kDouble).add(mean.mul(mean))});  // [2C]
  options.norm_over->mean(statistics);
  const std::int64_t channels = mean.size(0);
  const at::Tensor all_mean = statistics.narrow(0, 0, channels);
  const at::Tensor variance =
      statistics.narrow(0, channels, channels).sub(all_mean.mul(all_mean)).clamp_min(0);
  keep.mean = all_mean.to(at::kFloat);
  keep.invstd = at::rsqrt(variance.add(here.epsilon)).to(at::kFloat);
  return std::get<0>(at::native_batch_norm(in, norm.gamma, norm.beta, keep.mean, variance.to(at::kFloat),
                                           /*training=*/false, 0.0, here.epsilon));
}

at::Tensor Detector::Impl::run_max_pool(const Step& step) {
  const Node& here = node(step);
  Kept& keep = kept_of(step.node);
  const std::int64_t p = here.padding;
  keep.padded = p > 0 ? at::constant_pad_nd(value(step.inputs[0]), {p, p, p, p}, 0) : value(step.inputs[0]);
  at::Tensor out;
  std::tie(out, keep.max_indices) =
      at::max_pool2d_with_indices(keep.padded, {here.kernel, here.kernel}, {here.stride, here.stride}, {0, 0},
                                  {here.dilation, here.dilation}, false);
  return out;
}

// A 1x1 window is the same whatever its dilation. On one CPU thread LibTorch hands plain 1x1 convolutions to
// the BLAS (measured with Debian's: 25 times slower), dilated ones always to oneDNN.
std::int64_t Detector::Impl::dilation_of(const Node& conv) const {
  return conv.kernel == 1 && device.is_cpu() ? 2 : conv.dilation;
}

at::Tensor Detector::Impl::conv_input(const Step& step) {
  const at::Tensor& in = value(step.inputs[0]);
  return step.head ? in.to(at::kFloat) : in;
}

at::Tensor Detector::Impl::conv_kernel(const Step& step) {
  if (step.group.size() == 1) return arrays_of(step.node).compute_kernel;
  std::vector<at::Tensor> kernels;
  for (const int member : step.group) kernels.push_back(arrays_of(member).compute_kernel);
  return at::cat(kernels);
}

// The optimiser has changed the float32 kernels since the last step.
void Detector::Impl::refresh_compute_kernels() {
  if (!copies_kept) copy_kernels();
}

void Detector::Impl::copy_kernels() {
  const at::NoGradGuard no_grad;
  if (folded || type == at::kFloat) return;
  std::vector<at::Tensor> copies, masters;
  for (const Step& step : plan.steps) {
    const NodeArrays& conv = arrays_of(step.node);
    if (!network::is_convolution(node(step).op) || step.head) continue;
    copies.push_back(conv.compute_kernel);
    masters.push_back(conv.kernel);
    if (!conv.compute_bias.defined()) continue;
    copies.push_back(conv.compute_bias);
    masters.push_back(conv.bias);
  }
  tensor::copy_all(copies, masters);
}

// m <- momentum * m + (1 - momentum) * batch. LibTorch's own update would use the unbiased variance; the
// biased one that it normalised with is 1 / invstd^2 - epsilon.
void Detector::Impl::update_moving_statistics() {
  struct Group {
    std::vector<at::Tensor> moving_means, means, moving_variances, invstds, biased_means, biases;
  };
  std::map<std::pair<float, float>, Group> groups;  // by (momentum, epsilon)
  for (const Step& step : plan.steps) {
    if (node(step).op != Op::kBatchNorm || fused_norm(step)) continue;
    Group& group = groups[{node(step).momentum, node(step).epsilon}];
    const NodeArrays& norm = arrays_of(step.node);
    group.moving_means.push_back(norm.mean);
    group.moving_variances.push_back(norm.variance);
    group.means.push_back(kept_of(step.node).mean);
    group.invstds.push_back(kept_of(step.node).invstd);
    if (step.conv < 0 || !plan.steps[static_cast<std::size_t>(step.conv)].bias_in_batch_norm) continue;
    group.biased_means.push_back(norm.mean);
    group.biases.push_back(arrays_of(step.conv).bias);
  }
  for (auto& [constants, group] : groups) {
    const double momentum = constants.first, epsilon = constants.second;
    std::vector<at::Tensor> variances = at::_foreach_mul(group.invstds, group.invstds);
    at::_foreach_reciprocal_(variances);
    at::_foreach_add_(variances, -epsilon);
    at::_foreach_mul_(group.moving_variances, momentum);
    at::_foreach_add_(group.moving_variances, variances, 1 - momentum);
    at::_foreach_mul_(group.moving_means, momentum);
    at::_foreach_add_(group.moving_means, group.means, 1 - momentum);
    if (!group.biases.empty()) at::_foreach_add_(group.biased_means, group.biases, 1 - momentum);
  }
}

Outputs Detector::Impl::make_outputs(bool training) const {
  const auto leaf = [&](int node) {
    at::Tensor out = values[static_cast<std::size_t>(node)].to(at::kFloat).contiguous();
    return training ? out.detach().set_requires_grad(true) : out;
  };
  Outputs outputs;
  outputs.bbox = leaf(plan.bbox);
  outputs.cov_logits = leaf(plan.cov_logits);
  const at::AutoGradMode recording(training);
  outputs.cov = at::sigmoid(outputs.cov_logits);
  return outputs;
}

}  // namespace maskfit::model
