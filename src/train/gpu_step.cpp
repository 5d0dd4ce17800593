#include "train/gpu_step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "loss/loss_tensors.h"
#include "model/outputs.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "train/rank_mean.h"
#include "train/update.h"
#ifdef MASKFIT_WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace maskfit::train {

bool GpuStep::possible([[maybe_unused]] const model::Detector& detector) {
#ifdef MASKFIT_WITH_CUDA
  return !tensor::device_from_name(detector.device()).is_cpu();
#else
  return false;
#endif
}

#ifdef MASKFIT_WITH_CUDA

namespace {

constexpr int kStepsBeforeRecording = 2;   // in which LibTorch chooses algorithms
constexpr std::int64_t kFigures = 3;       // task cost, regularisation, gradient norm
constexpr std::int64_t kFewestSlots = 32;  // truths a picture; room doubles, for each size is another graph

GradientStorage storage_of(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBFloat16) return GradientStorage::kBfloat16;
  if (tensor.scalar_type() == at::kHalf) return GradientStorage::kFloat16;
  MASKFIT_CHECK(tensor.scalar_type() == at::kFloat, "{}", c10::toString(tensor.scalar_type()));
  return GradientStorage::kFloat32;
}

UpdateRule rule_of(const StepParts& parts) {
  const Optimizer::Constants constants = parts.optimizer.constants();
  UpdateRule rule;
  rule.beta1 = static_cast<float>(constants.beta1);
  rule.beta2 = static_cast<float>(constants.beta2);
  rule.epsilon = static_cast<float>(constants.epsilon);
  rule.decay = static_cast<float>(constants.decay);
  const auto type = parts.regulariser.type();
  rule.penalty = type == spec::RegularizerConfig::L1   ? Penalty::kL1
                 : type == spec::RegularizerConfig::L2 ? Penalty::kL2
                                                       : Penalty::kNone;
  rule.penalty_weight = static_cast<float>(parts.regulariser.weight());
  rule.max_norm = static_cast<float>(parts.clip_norm);
  if (parts.scaling == nullptr || !parts.scaling->enabled()) return rule;
  rule.scaled = true;
  rule.increment = static_cast<float>(parts.scaling->increment());
  rule.decrement = static_cast<float>(parts.scaling->decrement());
  return rule;
}

void require(const char* failure) {
  if (failure == nullptr) return;
  throw base::Error(base::ExitCode::kFailed, fmt::format("the GPU refused a kernel: {}", failure));
}

}  // namespace

struct GpuStep::Impl {
  explicit Impl(const StepParts& parts_in)
      : parts(parts_in), device(tensor::device_from_name(parts.detector.device())), rule(rule_of(parts)) {
    const std::vector<std::string> names = parts.detector.parameter_names();
    const std::vector<at::Tensor> copies = parts.detector.compute_copies();
    parameters = parts.detector.parameters();
    first = parts.optimizer.first_moments();
    second = parts.optimizer.second_moments();
    if (parts.average != nullptr && parts.average->enabled()) averages = parts.average->averages();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      UpdateArray array;
      array.parameter = parameters[i].data_ptr<float>();
      array.first = first[i].data_ptr<float>();
      array.second = second[i].data_ptr<float>();
      array.n = parameters[i].numel();
      array.regularised = loss::is_regularised(names[i]);
      array.decays = decays(parameters[i]);
      if (copies[i].defined()) {
        MASKFIT_CHECK(copies[i].strides() == parameters[i].strides(), "'{}'", names[i]);
        array.copy = copies[i].data_ptr();
        array.copy_storage = storage_of(copies[i]);
      }
      arrays.push_back(array);
    }
    // Moving statistics are averaged, and nothing else.
    for (const at::Tensor& buffer : averages.empty() ? std::vector<at::Tensor>() : parts.detector.buffers()) {
      UpdateArray array;
      array.parameter = buffer.data_ptr<float>();
      array.n = buffer.numel();
      arrays.push_back(array);
    }
    MASKFIT_CHECK(averages.empty() || averages.size() == arrays.size(), "{} averages", averages.size());
    for (std::size_t i = 0; i < averages.size(); ++i) arrays[i].average = averages[i].data_ptr<float>();
    const auto options = at::TensorOptions(device).dtype(at::kFloat);
    state = at::zeros({static_cast<std::int64_t>(sizeof(UpdateState) / sizeof(float))}, options);
    if (rule.scaled) state_member(offsetof(UpdateState, exponent)).fill_(parts.scaling->exponent());
    if (rule.scaled) bad_steps = parts.scaling->bad_steps();
    scratch = at::empty({update_scratch_bytes(arrays)}, options.dtype(at::kByte));
  }

  // UpdateState is nothing but floats.
  at::Tensor state_member(std::size_t offset) const {
    return state[static_cast<std::int64_t>(offset / sizeof(float))];
  }
  UpdateState* state_pointer() const { return reinterpret_cast<UpdateState*>(state.data_ptr<float>()); }
  CUstream_st* stream() const { return c10::cuda::getCurrentCUDAStream(device_index()).stream(); }
  c10::DeviceIndex device_index() const { return parameters[0].device().index(); }

  void run(const at::Tensor& images, const loss::Targets& targets);
  void record();
  void hold(at::Tensor& held, const at::Tensor& given, double absent);
  void hold_truths(const loss::TruthTensors& given);
  bool fits(const at::Tensor& images) const {
    return !held_images.defined() || held_images.sizes() == images.sizes();
  }

  StepParts parts;
  at::Device device;
  UpdateRule rule;
  std::vector<at::Tensor> parameters, first, second, averages;
  std::vector<UpdateArray> arrays;
  at::Tensor state, scratch, numbers;
  std::int64_t bad_steps = 0;
  int steps = 0;
  at::Tensor held_images;
  loss::Targets held;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
};

// One step, the recipe and nothing else; `state` holds its scalars.
void GpuStep::Impl::run(const at::Tensor& images, const loss::Targets& targets) {
  const model::Outputs outputs = parts.detector.forward(images, /*training=*/true);
  loss::Loss loss = parts.loss.compute(outputs.bbox, outputs.cov_logits, outputs.cov, targets);
  if (parts.extra_cost) loss.task = loss.task.add(parts.extra_cost(images, outputs));
  const at::Tensor scaled =
      rule.scaled ? loss.task.mul(state_member(offsetof(UpdateState, loss_scale))) : loss.task;
  if (parts.mean != nullptr) begin_mean_of_costs(loss, *parts.mean);
  std::vector<at::Tensor> gradients = parts.detector.backward_as_computed(scaled);
  if (parts.buckets != nullptr) parts.buckets->finish(gradients);

  const at::NoGradGuard no_grad;
  MASKFIT_CHECK(gradients.size() == parameters.size(), "{} gradients", gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = laid_out_like(gradients[i], parameters[i]);
    arrays[i].gradient = gradients[i].data_ptr();
    arrays[i].gradient_storage = storage_of(gradients[i]);
  }
  const at::Tensor costs = loss.mean_costs.reshape(-1);
  if (!numbers.defined()) numbers = at::empty({kFigures + costs.size(0)}, state.options());
  const at::Tensor task = loss.task.detach().contiguous();
  require(measure_update_cuda(arrays, rule, state_pointer(), task.data_ptr<float>(),
                              numbers.data_ptr<float>(), scratch.data_ptr(), stream()));
  require(apply_update_cuda(arrays, rule, state_pointer(), stream()));
  numbers.narrow(0, kFigures, costs.size(0)).copy_(costs);
  const at::Tensor sick = state_member(offsetof(UpdateState, sick));
  loss.mean_costs = at::where(sick.gt(0), at::zeros_like(loss.mean_costs), loss.mean_costs);
  parts.loss.add_costs(loss);
}

// The graph's own tensor takes the batch's numbers. One of another shape means another graph.
void GpuStep::Impl::hold(at::Tensor& own, const at::Tensor& given, double absent) {
  if (!given.defined()) {
    if (own.defined()) own.fill_(absent);
  } else if (own.defined() && own.sizes() == given.sizes()) {
    own.copy_(given);
  } else {
    own = given.clone();
    graph.reset();
  }
}

// Batches differ in how many truths their fullest picture has; unused places are zeros.
void GpuStep::Impl::hold_truths(const loss::TruthTensors& given) {
  if (!given.boxes.defined()) return;
  loss::TruthTensors& own = held.truths;
  const std::int64_t slots = given.boxes.size(1);
  const auto take = [&](at::Tensor& tensor, const at::Tensor& from) {
    if (!tensor.defined() || tensor.size(1) < slots || tensor.size(0) != from.size(0)) {
      std::vector<std::int64_t> shape = from.sizes().vec();
      shape[1] = kFewestSlots;
      while (shape[1] < slots) shape[1] *= 2;
      tensor = at::zeros(shape, from.options());
      graph.reset();
    } else {
      tensor.narrow(1, slots, tensor.size(1) - slots).zero_();
    }
    tensor.narrow(1, 0, slots).copy_(from);
  };
  take(own.boxes, given.boxes);
  take(own.classes, given.classes);
  take(own.objects, given.objects);
  take(own.ignored, given.ignored);
}

void GpuStep::Impl::record() {
  tensor::synchronise(parameters[0].device());
  c10::cuda::CUDACachingAllocator::emptyCache();
  graph = std::make_unique<at::cuda::CUDAGraph>();
  const c10::cuda::CUDAStreamGuard side(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_index()));
  // Other threads may copy results of a validation meanwhile.
  graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  run(held_images, held);
  graph->capture_end();
}

GpuStep::GpuStep(const StepParts& parts) : impl_(std::make_unique<Impl>(parts)) {}
GpuStep::~GpuStep() {
  impl_->parts.detector.set_copies_kept(false);
}

at::Tensor GpuStep::take(const at::Tensor& images, const loss::Targets& targets, const Settings& settings) {
  Impl& impl = *impl_;
  const c10::cuda::CUDAGuard guard(impl.device_index());
  const Optimizer::Factors factors = impl.parts.optimizer.begin_step(settings.learning_rate);
  StepScalars scalars;
  scalars.learning_rate = static_cast<float>(settings.learning_rate);
  scalars.step_size = static_cast<float>(factors.step_size);
  scalars.root_scale = static_cast<float>(factors.root_scale);
  scalars.norm_limit = static_cast<float>(settings.norm_limit);
  if (!impl.averages.empty()) {
    scalars.average_weight = static_cast<float>(impl.parts.average->weight(settings.step));
  }
  require(set_step_scalars_cuda(impl.state_pointer(), scalars, impl.stream()));
  if (impl.steps == 1) impl.parts.detector.set_copies_kept(true);  // the first step has refreshed them
  if (!impl.parts.graph || impl.steps < kStepsBeforeRecording || !impl.fits(images)) {
    impl.run(images, targets);
  } else {
    if (!impl.held_images.defined()) impl.held_images = at::empty_like(images);
    impl.held_images.copy_(images);
    impl.hold(impl.held.coverage, targets.coverage, 0);
    impl.hold(impl.held.box_weight, targets.box_weight, 0);
    impl.hold(impl.held.box, targets.box, 0);
    impl.hold(impl.held.coverage_mask, targets.coverage_mask, 1);
    impl.hold(impl.held.box_mask, targets.box_mask, 1);
    impl.hold_truths(targets.truths);
    if (!impl.graph) impl.record();
    impl.graph->replay();
  }
  ++impl.steps;
  return impl.numbers.clone();
}

void GpuStep::read_scaling() {
  Impl& impl = *impl_;
  if (!impl.rule.scaled) return;
  const double exponent = tensor::to_number(impl.state_member(offsetof(UpdateState, exponent)));
  const double bad = tensor::to_number(impl.state_member(offsetof(UpdateState, bad_steps)));
  impl.parts.scaling->set_state({exponent, static_cast<double>(impl.bad_steps) + bad});
}

#else

struct GpuStep::Impl {};
GpuStep::GpuStep(const StepParts&) {
  MASKFIT_CHECK(false, "built without CUDA");
}
GpuStep::~GpuStep() = default;
at::Tensor GpuStep::take(const at::Tensor&, const loss::Targets&, const Settings&) {
  return {};
}
void GpuStep::read_scaling() {}

#endif

}  // namespace maskfit::train
