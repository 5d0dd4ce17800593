#include "model/detector.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rsqrt.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "model/detector_impl.h"
#include "network/backbones.h"
#include "tensor/device.h"

namespace maskfit::model {
namespace {

using network::Op;

at::ScalarType scalar_type_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return at::kFloat;
    case Precision::kBfloat16:
      return at::kBFloat16;
    case Precision::kFloat16:
      return at::kHalf;
  }
  MASKFIT_CHECK(false, "precision={}", static_cast<int>(precision));
}

void refuse_impossible(const network::Network& network, const DetectorOptions& options, at::Device device) {
  if (options.precision == Precision::kFloat16 && device.is_cpu()) {
    throw base::Error(base::ExitCode::kMachine, "fp16 needs a GPU", "precision", "use fp32 or bf16 on a CPU");
  }
  std::set<int> blocks;
  for (const network::Node& node : network.nodes) blocks.insert(network::block_of(node.name));
  blocks.erase(-1);
  for (const int block : options.freeze_blocks) {
    if (blocks.contains(block)) continue;
    throw base::Error(base::ExitCode::kRefused, fmt::format("'{}' has no block {}", network.name, block),
                      "model_config.freeze_blocks",
                      fmt::format("it has the blocks {}", fmt::join(blocks, ", ")));
  }
}

std::vector<std::string> frozen_nodes(const network::Network& network, const std::vector<int>& blocks) {
  std::vector<std::string> names;
  for (const network::Node& node : network.nodes) {
    const bool listed = std::find(blocks.begin(), blocks.end(), network::block_of(node.name)) != blocks.end();
    if (network::is_convolution(node.op) && listed) names.push_back(node.name);
  }
  return names;
}

}  // namespace

Precision precision_from_name(const std::string& name) {
  if (name == "fp32") return Precision::kFloat32;
  if (name == "bf16") return Precision::kBfloat16;
  if (name == "fp16") return Precision::kFloat16;
  throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is no precision", name), "precision",
                    "use fp32, bf16 or fp16");
}

Detector::Impl::Impl(network::Network network_in, const DetectorOptions& options_in)
    : network(std::move(network_in)),
      options(options_in),
      device(tensor::device_from_name(options.device)),
      type(scalar_type_of(options.precision)),
      format(at::MemoryFormat::ChannelsLast),
      slots(network::weight_slots(network)) {
  refuse_impossible(network, options, device);
  const std::vector<std::string> frozen = frozen_nodes(network, options.freeze_blocks);
  plan = make_plan(network, frozen);
  arrays = load_arrays(network, device, format);
  for (const Step& step : plan.steps) {
    NodeArrays& own = arrays_of(step.node);
    if (!network::is_convolution(node(step).op)) continue;
    own.frozen = std::find(frozen.begin(), frozen.end(), node(step).name) != frozen.end();
    const at::ScalarType compute = step.head ? at::kFloat : type;
    own.compute_kernel = compute == at::kFloat ? own.kernel : at::empty_like(own.kernel, compute);
    if (node(step).bias && !step.bias_in_batch_norm) {
      own.compute_bias = compute == at::kFloat ? own.bias : at::empty_like(own.bias, compute);
    }
  }
}

// y = gamma * (conv(x) + bias - mean) * invstd + beta, with s = gamma * invstd:
// kernel' = s * kernel, bias' = s * (bias - mean) + beta.
void Detector::Impl::fold_batch_norms() {
  if (folded) return;
  const at::NoGradGuard no_grad;
  for (const Step& step : plan.steps) {
    if (node(step).op != Op::kBatchNorm || step.conv < 0) continue;
    const NodeArrays& norm = arrays_of(step.node);
    NodeArrays& conv = arrays_of(step.conv);
    const at::Tensor s = norm.gamma.mul(at::rsqrt(norm.variance.add(node(step).epsilon)));
    const at::Tensor offset = conv.bias.defined() ? conv.bias.sub(norm.mean) : norm.mean.neg();
    conv.compute_kernel = conv.kernel.mul(s.view({-1, 1, 1, 1})).to(type);
    conv.compute_bias = norm.beta.add(s.mul(offset)).to(type);
  }
  // Convolutions without a batch norm keep their own numbers, brought up to date one last time.
  for (const Step& step : plan.steps) {
    NodeArrays& conv = arrays_of(step.node);
    const bool norm_follows = std::any_of(plan.steps.begin(), plan.steps.end(),
                                          [&](const Step& other) { return other.conv == step.node; });
    if (!network::is_convolution(node(step).op) || norm_follows || step.head) continue;
    conv.compute_kernel = conv.kernel.to(type);
    if (conv.bias.defined()) conv.compute_bias = conv.bias.to(type);
  }
  folded = true;
}

Detector::Detector(network::Network network, const DetectorOptions& options)
    : impl_(std::make_unique<Impl>(std::move(network), options)) {}
Detector::Detector(network::Network network, const std::string& device, Precision precision)
    : Detector(std::move(network), DetectorOptions{.device = device, .precision = precision}) {}
Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;

Outputs Detector::forward(const at::Tensor& images, bool training) {
  return impl_->forward(images, training);
}
std::vector<at::Tensor> Detector::backward(const at::Tensor& loss) {
  std::vector<at::Tensor> gradients = impl_->backward(loss);
  for (at::Tensor& gradient : gradients) gradient = gradient.to(at::kFloat);
  return gradients;
}
std::vector<at::Tensor> Detector::backward_as_computed(const at::Tensor& loss) {
  return impl_->backward(loss);
}
void Detector::on_gradient(GradientReady ready) {
  impl_->gradient_ready = std::move(ready);
}
void Detector::set_copies_kept(bool kept) {
  impl_->copies_kept = kept;
}
void Detector::refresh_copies() {
  impl_->copy_kernels();
}
void Detector::fold_for_inference() {
  impl_->fold_batch_norms();
}
const std::string& Detector::device() const {
  return impl_->options.device;
}

namespace {

enum class Kind { kTrainable, kFrozen, kMoving };

Kind kind_of(const network::WeightSlot& slot, const NodeArrays& arrays) {
  if (!slot.trainable) return Kind::kMoving;
  return network::is_convolution(slot.op) && arrays.frozen ? Kind::kFrozen : Kind::kTrainable;
}

// Calls visit(slot name, tensor) for the arrays of one kind.
template <typename Impl, typename Visit>
void for_each_of(Impl& impl, Kind kind, Visit visit) {
  impl.for_each_slot([&](const network::WeightSlot& slot, std::size_t node) {
    if (kind_of(slot, impl.arrays[node]) == kind) visit(slot.name, array_of(impl.arrays[node], slot.name));
  });
}

template <typename Impl>
std::vector<std::string> names_of(Impl& impl, Kind kind) {
  std::vector<std::string> names;
  for_each_of(impl, kind, [&](const std::string& name, const at::Tensor&) { names.push_back(name); });
  return names;
}

template <typename Impl>
std::vector<at::Tensor> tensors_of(Impl& impl, Kind kind) {
  std::vector<at::Tensor> tensors;
  for_each_of(impl, kind, [&](const std::string&, const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

}  // namespace

std::vector<std::string> Detector::parameter_names() const {
  return names_of(*impl_, Kind::kTrainable);
}
std::vector<at::Tensor> Detector::parameters() const {
  return tensors_of(*impl_, Kind::kTrainable);
}
std::vector<at::Tensor> Detector::compute_copies() const {
  std::vector<at::Tensor> copies;
  impl_->for_each_slot([&](const network::WeightSlot& slot, std::size_t node) {
    const NodeArrays& arrays = impl_->arrays[node];
    if (kind_of(slot, arrays) != Kind::kTrainable) return;
    const bool kernel = slot.name.ends_with("/kernel"), bias = slot.name.ends_with("/bias");
    const at::Tensor& copy = kernel ? arrays.compute_kernel : arrays.compute_bias;
    const at::Tensor& master = kernel ? arrays.kernel : arrays.bias;
    const bool own = (kernel || bias) && copy.defined() && !copy.is_same(master);
    copies.push_back(own ? copy : at::Tensor());
  });
  return copies;
}
std::vector<std::string> Detector::frozen_names() const {
  return names_of(*impl_, Kind::kFrozen);
}
std::vector<at::Tensor> Detector::frozen() const {
  return tensors_of(*impl_, Kind::kFrozen);
}
std::vector<std::string> Detector::buffer_names() const {
  return names_of(*impl_, Kind::kMoving);
}
std::vector<at::Tensor> Detector::buffers() const {
  return tensors_of(*impl_, Kind::kMoving);
}

std::vector<std::string> Detector::unfused_norms() const {
  std::vector<std::string> names;
  for (const Step& step : impl_->plan.steps) {
    const network::Node& node = impl_->network.nodes[static_cast<std::size_t>(step.node)];
    const bool fused = impl_->runs_fusions() && (step.in_fusion || step.fusion.exists());
    if (node.op == Op::kBatchNorm && !fused) names.push_back(node.name);
  }
  return names;
}

network::Network Detector::network() const {
  network::Network copy = impl_->network;
  store_arrays(impl_->arrays, copy);
  return copy;
}

}  // namespace maskfit::model
