#include "train/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "base/error.h"
#include "tensor/array.h"
#include "tensor/version.h"
#include "train/adam_loop.h"

namespace maskfit::train {
namespace {

constexpr const char* kFirstMoment = "adam/first_moment/";
constexpr const char* kSecondMoment = "adam/second_moment/";

struct Settings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0;
  bool tensorflow_form = true;
};

Settings settings_of(const spec::OptimizerConfig& config) {
  const auto common = [](const auto& adam) {
    return Settings{.beta1 = adam.has_beta1() ? adam.beta1() : 0.9f,
                    .beta2 = adam.has_beta2() ? adam.beta2() : 0.999f,
                    .epsilon = adam.has_epsilon() ? adam.epsilon() : 1e-8f};
  };
  if (config.has_adam()) return common(config.adam());
  if (!config.has_adamw()) {
    throw base::Error(base::ExitCode::kRefused, "the spec names no optimiser", "training_config.optimizer",
                      "give adam or adamw");
  }
  Settings settings = common(config.adamw());
  settings.decay = config.adamw().has_weight_decay() ? config.adamw().weight_decay() : 0.01f;
  settings.tensorflow_form = false;
  return settings;
}

// Element i of both lies at the same place in memory. Strides of dimensions of size 1 mean nothing.
bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return false;
  for (std::int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  }
  return true;
}

}  // namespace

at::Tensor laid_out_like(const at::Tensor& gradient, const at::Tensor& parameter) {
  if (same_layout(gradient, parameter)) return gradient;
  return at::empty_like(parameter, gradient.scalar_type()).copy_(gradient);
}

bool decays(const at::Tensor& parameter) {
  return parameter.dim() > 1;
}

struct Optimizer::Impl {
  Impl(const spec::OptimizerConfig& config, std::vector<std::string> names_in,
       std::vector<at::Tensor> parameters_in)
      : settings(settings_of(config)), names(std::move(names_in)), parameters(std::move(parameters_in)) {
    MASKFIT_CHECK(names.size() == parameters.size() && !names.empty(), "{} names, {} parameters",
                  names.size(), parameters.size());
    for (const at::Tensor& parameter : parameters) {
      MASKFIT_CHECK(parameter.scalar_type() == at::kFloat && parameter.is_non_overlapping_and_dense(),
                    "dim={}", parameter.dim());
      first.push_back(at::zeros_like(parameter));
      second.push_back(at::zeros_like(parameter));
    }
  }

  // The gradients in the memory layout of their parameters.
  std::vector<at::Tensor> aligned(const std::vector<at::Tensor>& gradients) const {
    MASKFIT_CHECK(gradients.size() == parameters.size(), "{} gradients, {} parameters", gradients.size(),
                  parameters.size());
    std::vector<at::Tensor> list;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const at::Tensor& gradient = gradients[i];
      MASKFIT_CHECK(gradient.sizes() == parameters[i].sizes() && gradient.scalar_type() == at::kFloat,
                    "the gradient of '{}' does not fit", names[i]);
      list.push_back(laid_out_like(gradient, parameters[i]));
    }
    return list;
  }

  Factors factors_now(double rate) const {
    const double correction1 = 1 - std::pow(settings.beta1, static_cast<double>(steps));
    const double root2 = std::sqrt(1 - std::pow(settings.beta2, static_cast<double>(steps)));
    const bool tensorflow = settings.tensorflow_form;
    return {rate / correction1 * (tensorflow ? root2 : 1), tensorflow ? 1 : 1 / root2};
  }

  void step_on_cpu(const std::vector<at::Tensor>& gradients, double rate) {
    constexpr std::int64_t kGrain = 1 << 15;  // elements; 512 KiB of the four arrays, about one core's cache
    const Factors now = factors_now(rate);
    AdamFactors factors;
    factors.beta1 = static_cast<float>(settings.beta1);
    factors.beta2 = static_cast<float>(settings.beta2);
    factors.epsilon = static_cast<float>(settings.epsilon);
    factors.step_size = static_cast<float>(now.step_size);
    factors.root_scale = static_cast<float>(now.root_scale);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      factors.shrink = static_cast<float>(decays(parameters[i]) ? 1 - rate * settings.decay : 1);
      float* const p = parameters[i].data_ptr<float>();
      const float* const g = gradients[i].data_ptr<float>();
      float* const m = first[i].data_ptr<float>();
      float* const v = second[i].data_ptr<float>();
      at::parallel_for(0, parameters[i].numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        adam_loop(p + begin, g + begin, m + begin, v + begin, end - begin, factors);
      });
    }
  }

  // LibTorch's kernel computes PyTorch's form. TensorFlow's is the same with epsilon / sqrt(1 - b2^t).
  void step_on_gpu(const std::vector<at::Tensor>& gradients, double rate, const at::Tensor* skip) {
    if (!device_steps.defined()) {
      device_steps = at::full({}, static_cast<double>(steps - 1), parameters[0].options());
    }
    device_steps.add_(1);
    if (settings.decay > 0) {
      std::vector<at::Tensor> decaying;
      for (const at::Tensor& parameter : parameters) {
        if (decays(parameter)) decaying.push_back(parameter);
      }
      if (skip) {
        tensor::scale_all(decaying, skip->mul(-1).add_(1).mul_(-rate * settings.decay).add_(1));
      } else if (!decaying.empty()) {
        at::_foreach_mul_(decaying, 1 - rate * settings.decay);
      }
    }
    const double root2 = std::sqrt(1 - std::pow(settings.beta2, static_cast<double>(steps)));
    const double epsilon = settings.tensorflow_form ? settings.epsilon / root2 : settings.epsilon;
    const std::vector<at::Tensor> counts(parameters.size(), device_steps);
    at::_fused_adam_(parameters, gradients, first, second, {}, counts, rate, settings.beta1, settings.beta2,
                     /*weight_decay=*/0, epsilon, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{},
                     /*found_inf=*/skip ? c10::optional<at::Tensor>(*skip) : c10::nullopt);
  }

  const Settings settings;
  const std::vector<std::string> names;
  const std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> first, second;  // moments, in the layout of the parameters
  std::int64_t steps = 0;
  at::Tensor device_steps;  // on a GPU: `steps` where the kernel reads it
};

Optimizer::Optimizer(const spec::OptimizerConfig& config, std::vector<std::string> names,
                     std::vector<at::Tensor> parameters)
    : impl_(std::make_unique<Impl>(config, std::move(names), std::move(parameters))) {}
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

void Optimizer::step(const std::vector<at::Tensor>& gradients, double learning_rate, const at::Tensor* skip) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> aligned = impl_->aligned(gradients);
  ++impl_->steps;  // skipped steps count too: a GPU's host does not know about them in time
  if (!impl_->parameters[0].is_cpu()) {
    impl_->step_on_gpu(aligned, learning_rate, skip);
  } else if (!skip || tensor::to_number(*skip) == 0) {
    impl_->step_on_cpu(aligned, learning_rate);
  }
}

Optimizer::Constants Optimizer::constants() const {
  const Settings& settings = impl_->settings;
  return {settings.beta1, settings.beta2, settings.epsilon, settings.decay};
}
Optimizer::Factors Optimizer::begin_step(double learning_rate) {
  ++impl_->steps;
  impl_->device_steps.reset();
  return impl_->factors_now(learning_rate);
}
std::vector<at::Tensor> Optimizer::first_moments() const {
  return impl_->first;
}
std::vector<at::Tensor> Optimizer::second_moments() const {
  return impl_->second;
}

std::int64_t Optimizer::steps() const {
  return impl_->steps;
}

std::map<std::string, at::Tensor> Optimizer::tensors() const {
  std::map<std::string, at::Tensor> tensors;
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    tensors.emplace(kFirstMoment + impl_->names[i], impl_->first[i]);
    tensors.emplace(kSecondMoment + impl_->names[i], impl_->second[i]);
  }
  return tensors;
}

void Optimizer::set_state(const std::map<std::string, network::Array>& arrays, std::int64_t steps) {
  MASKFIT_CHECK(steps >= 0, "steps={}", steps);
  const at::NoGradGuard no_grad;
  const auto take = [&](const std::string& name, const at::Tensor& into) {
    const auto found = arrays.find(name);
    if (found == arrays.end() || found->second.shape != into.sizes().vec()) {
      throw base::Error(base::ExitCode::kRefused,
                        fmt::format("the checkpoint {} '{}'",
                                    found == arrays.end() ? "lacks" : "has another shape of", name),
                        "", "it belongs to another network; start a new run");
    }
    into.copy_(tensor::from_values(found->second.values, found->second.shape));
  };
  for (std::size_t i = 0; i < impl_->names.size(); ++i) {
    take(kFirstMoment + impl_->names[i], impl_->first[i]);
    take(kSecondMoment + impl_->names[i], impl_->second[i]);
  }
  impl_->steps = steps;
  impl_->device_steps.reset();
}

void clip_gradients(const std::vector<at::Tensor>& gradients, double max_norm) {
  if (max_norm <= 0 || gradients.empty()) return;
  const at::NoGradGuard no_grad;
  const at::Tensor factor =
      tensor::norm_of_all(gradients).add_(1e-6).reciprocal_().mul_(max_norm).clamp_max_(1.0);
  tensor::scale_all(gradients, factor);
}

}  // namespace maskfit::train
