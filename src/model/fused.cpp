// The steps of forward() and backward() that run the kernels of fused_norm.h and stem.h, or on a CPU the
// functions that define them.

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "base/error.h"
#include "model/detector_impl.h"
#include "model/fused_norm.h"
#include "model/stem.h"
#include "model/stem_conv.h"
#ifdef MASKFIT_WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace maskfit::model {
namespace {

Storage storage_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return Storage::kFloat32;
    case at::kBFloat16:
      return Storage::kBfloat16;
    case at::kHalf:
      return Storage::kFloat16;
    default:
      MASKFIT_CHECK(false, "{}", c10::toString(type));
  }
  return Storage::kFloat32;
}

// REQUIRES channels-last memory.
Pixels pixels_of(const at::Tensor& tensor) {
  MASKFIT_CHECK(tensor.is_contiguous(at::MemoryFormat::ChannelsLast), "{} dimensions", tensor.dim());
  return {tensor.size(0) * tensor.size(2) * tensor.size(3), static_cast<int>(tensor.size(1)),
          storage_of(tensor.scalar_type())};
}

NormArrays norm_arrays(const NodeArrays& arrays, const at::Tensor& mean, const at::Tensor& invstd) {
  return {arrays.gamma.data_ptr<float>(), arrays.beta.data_ptr<float>(), mean.data_ptr<float>(),
          invstd.data_ptr<float>()};
}

// Runs `on_cpu` for a CPU; `on_gpu(stream)` for a GPU, which returns an error text or nullptr.
template <typename OnCpu, typename OnGpu>
void dispatch(at::Device device, OnCpu on_cpu, [[maybe_unused]] OnGpu on_gpu) {
  if (device.is_cpu()) return on_cpu();
#ifdef MASKFIT_WITH_CUDA
  const c10::cuda::CUDAGuard guard(device);
  const char* const failure = on_gpu(c10::cuda::getCurrentCUDAStream(device.index()).stream());
  if (failure == nullptr) return;
  throw base::Error(base::ExitCode::kFailed, fmt::format("the GPU refused a kernel: {}", failure));
#else
  MASKFIT_CHECK(false, "built without CUDA");
#endif
}

#ifdef MASKFIT_WITH_CUDA
#define MASKFIT_ON_GPU(call) [&](CUstream_st* stream) { return call; }
#else
#define MASKFIT_ON_GPU(call) [](CUstream_st*) -> const char* { return nullptr; }
#endif

}  // namespace

bool Detector::Impl::runs_fusions() const {
  if (options.freeze_bn || options.norm_over || options.kernels == Kernels::kLibTorch) return false;
#ifdef MASKFIT_WITH_CUDA
  if (device.is_cuda()) return true;
#endif
  return device.is_cpu() && options.kernels == Kernels::kFused && type == at::kFloat;
}

bool Detector::Impl::takes_two_gradients(int node) const {
  return runs_fusions() && plan.steps[static_cast<std::size_t>(node)].fusion.exists();
}

Statistics Detector::Impl::statistics_job(const Step& norm) {
  const network::Node& here = node(norm);
  const NodeArrays& own = arrays_of(norm.node);
  Kept& keep = kept_of(norm.node);
  keep.mean = at::empty_like(own.gamma);
  keep.invstd = at::empty_like(own.gamma);
  const bool bias_left_out =
      norm.conv >= 0 && plan.steps[static_cast<std::size_t>(norm.conv)].bias_in_batch_norm;
  return {.x = nullptr,
          .epsilon = here.epsilon,
          .momentum = here.momentum,
          .bias = bias_left_out ? arrays_of(norm.conv).bias.data_ptr<float>() : nullptr,
          .mean = keep.mean.data_ptr<float>(),
          .invstd = keep.invstd.data_ptr<float>(),
          .moving_mean = own.mean.data_ptr<float>(),
          .moving_variance = own.variance.data_ptr<float>()};
}

// Zeros at first, as the kernels want it.
void* Detector::Impl::scratch_memory(std::int64_t bytes) {
  at::Tensor& memory = scratch[bytes];
  if (!memory.defined()) memory = at::zeros({bytes}, at::TensorOptions(device).dtype(at::kByte));
  return memory.data_ptr();
}

// Batch statistics of what a norm reads, and with them the moving ones.
void Detector::Impl::run_statistics(const Step& norm) {
  if (kept_of(norm.node).mean.defined()) return;  // made by the stem
  at::Tensor& x = value(norm.inputs[0]);
  x = x.contiguous(format);
  Statistics job = statistics_job(norm);
  job.x = x.data_ptr();
  dispatch(
      device, [&] { statistics_on_cpu(pixels_of(x), job); },
      MASKFIT_ON_GPU(statistics_cuda(pixels_of(x), job, scratch_memory(fused_norm_scratch_bytes()), stream)));
}

Normalise Detector::Impl::fusion_job(const Fusion& fusion) {
  const auto norm_of = [&](int norm) {
    return norm_arrays(arrays_of(norm), kept_of(norm).mean, kept_of(norm).invstd);
  };
  const auto input_of = [&](int norm) {
    return value(plan.steps[static_cast<std::size_t>(norm)].inputs[0]).data_ptr();
  };
  Normalise job;
  job.x = input_of(fusion.norm);
  job.norm = norm_of(fusion.norm);
  job.relu = fusion.relu;
  if (fusion.other_norm >= 0) {
    job.shortcut = Shortcut::kNormalised;
    job.other = input_of(fusion.other_norm);
    job.other_norm = norm_of(fusion.other_norm);
  } else if (fusion.other >= 0) {
    job.shortcut = Shortcut::kPlain;
    value(fusion.other) = value(fusion.other).contiguous(format);
    job.other = value(fusion.other).data_ptr();
  }
  return job;
}

at::Tensor Detector::Impl::run_fusion(const Step& step) {
  const at::Tensor& x = value(plan.steps[static_cast<std::size_t>(step.fusion.norm)].inputs[0]);
  const Normalise job = fusion_job(step.fusion);
  at::Tensor y = at::empty_like(x);
  dispatch(
      device, [&] { normalise_on_cpu(pixels_of(x), job, y.data_ptr()); },
      MASKFIT_ON_GPU(normalise_cuda(pixels_of(x), job, y.data_ptr(), stream)));
  return y;
}

void Detector::Impl::backward_fusion(const Step& step) {
  const Fusion& fusion = step.fusion;
  NodeGradient& gathered = gradients[static_cast<std::size_t>(step.node)];
  const int x_node = plan.steps[static_cast<std::size_t>(fusion.norm)].inputs[0];
  const at::Tensor& x = value(x_node);
  if (!gathered.value.defined() && gathered.second_stride == 1) std::swap(gathered.value, gathered.second);
  if (!gathered.value.defined()) gathered.value = at::zeros_like(x);
  const auto like_x = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(x.scalar_type()).contiguous(format) : tensor;
  };
  const at::Tensor first = like_x(gathered.value), second = like_x(gathered.second);
  const NodeArrays& norm = arrays_of(fusion.norm);
  ArrayGradients& own = array_gradients[static_cast<std::size_t>(fusion.norm)];
  own.gamma = at::empty_like(norm.gamma);
  own.beta = at::empty_like(norm.beta);
  const bool into_stem = stem_norm == fusion.norm;
  at::Tensor to_x = into_stem ? at::Tensor() : at::empty_like(x), to_other;
  NormBackward job{
      .forward = fusion_job(fusion),
      .incoming = {first.data_ptr(), second.defined() ? second.data_ptr() : nullptr, gathered.second_stride,
                   static_cast<int>(x.size(2)), static_cast<int>(x.size(3))},
      .to_gamma = own.gamma.data_ptr<float>(),
      .to_beta = own.beta.data_ptr<float>(),
      .to_x = into_stem ? nullptr : to_x.data_ptr()};
  if (job.forward.shortcut != Shortcut::kNone) {
    to_other = at::empty_like(x);
    job.to_other = to_other.data_ptr();
  }
  if (fusion.other_norm >= 0) {
    ArrayGradients& others = array_gradients[static_cast<std::size_t>(fusion.other_norm)];
    others.gamma = at::empty_like(norm.gamma);
    others.beta = at::empty_like(norm.beta);
    job.to_other_gamma = others.gamma.data_ptr<float>();
    job.to_other_beta = others.beta.data_ptr<float>();
  }
  dispatch(
      device, [&] { norm_backward_on_cpu(pixels_of(x), job); },
      MASKFIT_ON_GPU(
          norm_backward_cuda(pixels_of(x), job, scratch_memory(fused_norm_scratch_bytes()), stream)));
  if (into_stem) return backward_stem_and_norm(plan.steps[static_cast<std::size_t>(x_node)], job);
  add_gradient(x_node, to_x, false);
  if (fusion.other >= 0) add_gradient(fusion.other, to_other, false);
  if (fusion.other_norm >= 0) {
    add_gradient(plan.steps[static_cast<std::size_t>(fusion.other_norm)].inputs[0], to_other, false);
  }
}

void Detector::Impl::fold_pictures(const at::Tensor& images) {
  const network::Node& conv =
      node(*std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return step.stem; }));
  // The kernel converts; only pixels of another device or of an odd type are copied first.
  at::Tensor source = images.to(device);
  if (source.scalar_type() != type) source = source.to(at::kFloat);
  const int border = stem_window(conv.kernel).blocks - 1;
  const network::Shape& in = network.input;
  values[0] =
      at::empty({source.size(0), stem_channels(in.channels), in.height / 2 + border, in.width / 2 + border},
                at::TensorOptions(device).dtype(type), format);
  const StemPictures pictures{.pixels = source.data_ptr(),
                              .storage = storage_of(source.scalar_type()),
                              .count = static_cast<int>(source.size(0)),
                              .channels = in.channels,
                              .height = in.height,
                              .width = in.width,
                              .picture_stride = source.stride(0),
                              .channel_stride = source.stride(1),
                              .line_stride = source.stride(2),
                              .column_stride = source.stride(3)};
  dispatch(
      device, [&] { fold_pictures_on_cpu(pictures, conv.kernel, values[0].data_ptr<float>()); },
      MASKFIT_ON_GPU(
          fold_pictures_cuda(pictures, conv.kernel, values[0].data_ptr(), storage_of(type), stream)));
  pictures_folded = true;
}

at::Tensor Detector::Impl::folded_kernel(const Step& stem) {
  const network::Node& conv = node(stem);
  const at::Tensor& kernel = arrays_of(stem.node).kernel;
  const int blocks = stem_window(conv.kernel).blocks, channels = static_cast<int>(kernel.size(1));
  const int filters = static_cast<int>(kernel.size(0));
  at::Tensor wide =
      at::empty({filters, stem_channels(channels), blocks, blocks}, kernel.options().dtype(type), format);
  const float* const weights = kernel.data_ptr<float>();
  dispatch(
      device, [&] { fold_weights_on_cpu(weights, filters, channels, conv.kernel, wide.data_ptr<float>()); },
      MASKFIT_ON_GPU(fold_weights_cuda(weights, filters, channels, conv.kernel, wide.data_ptr(),
                                       storage_of(type), stream)));
  return wide;
}

StemConv Detector::Impl::stem_conv(const Step& stem) {
  const network::Node& conv = node(stem);
  const at::Tensor& pictures = value(stem.inputs[0]);
  const int border = stem_window(conv.kernel).blocks - 1;
  return {.count = static_cast<int>(pictures.size(0)),
          .lines = static_cast<int>(pictures.size(2)) - border,
          .columns = static_cast<int>(pictures.size(3)) - border,
          .filters = conv.out_channels,
          .kernel = conv.kernel,
          .channels = network.input.channels,
          .storage = device.is_cpu() ? Storage::kBfloat16 : storage_of(type)};
}

// The norm that runs with the first convolution in stem_conv.h's kernels, or -1.
int Detector::Impl::find_stem_norm() {
  if (!pictures_folded) return -1;
  for (const Step& norm : plan.steps) {
    if (norm.conv < 0 || !plan.steps[static_cast<std::size_t>(norm.conv)].stem) continue;
    const Step& stem = plan.steps[static_cast<std::size_t>(norm.conv)];
    const bool alone = std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
      return step.fusion.norm == norm.node && step.fusion.relu && step.fusion.other < 0 &&
             step.fusion.other_norm < 0;
    });
    if (!alone || !stem_conv_takes(stem_conv(stem))) return -1;
#ifdef MASKFIT_WITH_CUDA
    if (device.is_cuda() && !stem_conv_fits_gpu(stem_conv(stem))) return -1;
#endif
    return norm.node;
  }
  return -1;
}

at::Tensor Detector::Impl::run_stem(const Step& stem) {
  const at::Tensor& pictures = value(stem.inputs[0]);
  const at::Tensor kernel = folded_kernel(stem);
  stem_norm = find_stem_norm();
  if (stem_norm < 0) {
    return at::convolution(pictures, kernel, arrays_of(stem.node).compute_bias, {1, 1}, {0, 0}, {1, 1}, false,
                           {0, 0}, 1);
  }
  const StemConv conv = stem_conv(stem);
  const Statistics job = statistics_job(plan.steps[static_cast<std::size_t>(stem_norm)]);
  at::Tensor y = at::empty({conv.count, conv.filters, conv.lines, conv.columns}, pictures.options(), format);
  dispatch(
      device,
      [&] {
        stem_forward_on_cpu(conv, pictures.data_ptr<float>(), kernel.data_ptr<float>(), y.data_ptr<float>(),
                            job);
      },
      MASKFIT_ON_GPU(stem_forward_cuda(conv, pictures.data_ptr(), kernel.data_ptr(), y.data_ptr(), job,
                                       scratch_memory(stem_scratch_bytes()), stream)));
  return y;
}

// `job` has the norm's sums. The picture itself needs no gradient.
void Detector::Impl::backward_stem_and_norm(const Step& stem, const NormBackward& job) {
  const NodeArrays& trained = arrays_of(stem.node);
  if (trained.frozen) return;
  ArrayGradients& own = array_gradients[static_cast<std::size_t>(stem.node)];
  own.kernel = at::empty_like(trained.kernel);
  const StemConv conv = stem_conv(stem);
  const at::Tensor& pictures = value(stem.inputs[0]);
  float* const to_weights = own.kernel.data_ptr<float>();
  dispatch(
      device, [&] { stem_backward_on_cpu(conv, pictures.data_ptr<float>(), job, to_weights); },
      MASKFIT_ON_GPU(stem_backward_cuda(conv, pictures.data_ptr(), job, to_weights,
                                        scratch_memory(stem_scratch_bytes()), stream)));
}

// Where LibTorch convolves the folded pictures.
void Detector::Impl::backward_stem(const Step& stem, const at::Tensor& gradient) {
  const network::Node& conv = node(stem);
  const NodeArrays& trained = arrays_of(stem.node);
  if (trained.frozen) return;
  const bool to_bias = conv.bias && !stem.bias_in_batch_norm;
  const at::Tensor kernel = folded_kernel(stem);  // for its sizes
  const auto [to_x, to_folded, to_b] =
      at::convolution_backward(gradient, value(stem.inputs[0]), kernel, at::IntArrayRef{kernel.size(0)},
                               {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, {false, true, to_bias});
  ArrayGradients& own = array_gradients[static_cast<std::size_t>(stem.node)];
  own.bias = to_b;
  own.kernel = at::empty_like(trained.kernel);
  const at::Tensor dense = to_folded.contiguous(format);
  const int filters = static_cast<int>(kernel.size(0)), channels = static_cast<int>(trained.kernel.size(1));
  float* const weights = own.kernel.data_ptr<float>();
  dispatch(
      device,
      [&] { unfold_gradient_on_cpu(dense.data_ptr<float>(), filters, channels, conv.kernel, weights); },
      MASKFIT_ON_GPU(unfold_gradient_cuda(dense.data_ptr(), storage_of(dense.scalar_type()), filters,
                                          channels, conv.kernel, weights, stream)));
}

}  // namespace maskfit::model
