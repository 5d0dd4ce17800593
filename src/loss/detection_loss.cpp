#include "loss/detection_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "base/error.h"
#include "loss/box_loss.h"
#include "loss/coverage_loss.h"
#include "loss/loss_tensors.h"
#include "tensor/array.h"
#include "tensor/device.h"

namespace maskfit::loss {
namespace {

using spec::CostFunctionConfig;

// Factors of the box costs; the reference's are {1, 0, 0}.
struct BoxFactors {
  double l1 = 1, giou = 0, ciou = 0;
};

BoxFactors box_factors(const CostFunctionConfig& config) {
  if (!config.has_box_loss()) return {};
  return {config.box_loss().l1(), config.box_loss().giou(), config.box_loss().ciou()};
}

}  // namespace

struct DetectionLoss::Impl {
  explicit Impl(const LossOptions& options_in)
      : options(options_in),
        device(tensor::device_from_name(options.device)),
        by_positives(options.cost.normalization() == CostFunctionConfig::POSITIVES),
        classes(options.cost.target_classes_size()),
        box(box_factors(options.cost)),
        weighting(options.cost) {
    std::vector<float> foreground;
    for (const auto& target_class : options.cost.target_classes()) {
      foreground.push_back(target_class.coverage_foreground_weight());
    }
    foreground_weight = tensor::from_values(foreground, {1, classes, 1, 1}, device);
    cost_sums = at::zeros({classes, kObjectives}, foreground_weight.options());
    refresh_factors();
  }

  void refresh_factors() {
    std::vector<float> values;
    for (std::size_t c = 0; c < weighting.classes().size(); ++c) {
      values.push_back(static_cast<float>(weighting.factor(c, kCoverage)));
      values.push_back(static_cast<float>(weighting.factor(c, kBox)));
    }
    // In place: a recorded step reads this very tensor.
    const at::Tensor fresh = tensor::from_values(values, {classes, kObjectives}, device);
    factors.defined() ? void(factors.copy_(fresh)) : void(factors = fresh);
  }

  at::Tensor grid(std::span<const float> values, std::int64_t count) const {
    if (values.empty()) return {};
    return tensor::from_values(
        values, {count, classes, options.geometry.grid_height, options.geometry.grid_width}, device);
  }

  at::Tensor coverage_cost(const at::Tensor& logits, const at::Tensor& probability,
                           const at::Tensor& target) const;
  at::Tensor box_cost(const at::Tensor& bbox, const Targets& targets) const;

  // [N][C][H][W] -> [C].
  at::Tensor reduce(const at::Tensor& cost, const at::Tensor& positives, tensor::RankMean* ranks) const {
    if (!by_positives) return cost.mean(at::IntArrayRef{0, 2, 3});
    return cost.sum(at::IntArrayRef{0, 2, 3}).div(shared_count(positives.sum(), ranks));
  }

  const LossOptions options;
  const at::Device device;
  const bool by_positives;
  const std::int64_t classes;
  const BoxFactors box;
  AutoWeighting weighting;
  at::Tensor foreground_weight;  // [1][C][1][1]
  at::Tensor factors;            // [C][2] class weight * lambda
  at::Tensor cost_sums;          // [C][2] of this epoch
};

at::Tensor DetectionLoss::Impl::coverage_cost(const at::Tensor& logits, const at::Tensor& probability,
                                              const at::Tensor& target) const {
  switch (options.cost.coverage_loss()) {
    case CostFunctionConfig::QUALITY_FOCAL:
      return quality_focal(logits, target, options.cost.has_focal_gamma() ? options.cost.focal_gamma() : 2.0);
    default:
      return weighted_cross_entropy(probability, target, foreground_weight);
  }
}

at::Tensor DetectionLoss::Impl::box_cost(const at::Tensor& bbox, const Targets& targets) const {
  at::Tensor prediction = bbox.view({bbox.size(0), classes, 4, bbox.size(2), bbox.size(3)});
  at::Tensor target = targets.box;
  if (box.giou > 0 || box.ciou > 0) {
    // Cells of no object have weight 0 and no box. A box that fits itself there keeps 0 * infinity out of the
    // sum.
    const at::Tensor positive = targets.box_weight.gt(0).unsqueeze(2);
    target = at::where(positive, target, at::ones_like(target));
    prediction = at::where(positive, prediction, at::ones_like(prediction));
  }
  at::Tensor cost;
  const auto add = [&](double factor, at::Tensor (*part)(const at::Tensor&, const at::Tensor&), double unit) {
    if (factor == 0) return;
    const at::Tensor term =
        unit == 1 ? part(prediction, target) : part(prediction.mul(unit), target.mul(unit));
    cost = cost.defined() ? cost.add(term, factor) : term.mul(factor);
  };
  add(box.l1, box_l1, 1);
  add(box.giou, box_giou, options.coding.scale);
  add(box.ciou, box_ciou, options.coding.scale);
  return cost.defined() ? cost.mul(targets.box_weight) : at::zeros_like(targets.box_weight);
}

DetectionLoss::DetectionLoss(const LossOptions& options) : impl_(std::make_unique<Impl>(options)) {}
DetectionLoss::~DetectionLoss() = default;
DetectionLoss::DetectionLoss(DetectionLoss&&) noexcept = default;
DetectionLoss& DetectionLoss::operator=(DetectionLoss&&) noexcept = default;

bool DetectionLoss::task_aligned() const {
  return impl_->options.cost.has_task_aligned();
}

Targets DetectionLoss::upload(const HostTargets& host) const {
  MASKFIT_CHECK(host.count > 0, "count={}", host.count);
  Targets targets;
  if (task_aligned()) {
    MASKFIT_CHECK(host.truths != nullptr && host.truths->pictures == host.count, "no truths for {} pictures",
                  host.count);
    targets.truths = to_device(*host.truths, impl_->device);
    return targets;
  }
  const boxes::GridGeometry& geometry = impl_->options.geometry;
  targets.coverage_mask = impl_->grid(host.coverage_mask, host.count);
  targets.box_mask = impl_->grid(host.box_mask, host.count);
  targets.coverage = impl_->grid(host.coverage, host.count);
  targets.box_weight = impl_->options.cost.box_weighting() == CostFunctionConfig::COVERAGE
                           ? targets.coverage
                           : impl_->grid(host.coverage_norm, host.count);
  targets.box = tensor::from_values(
      host.box, {host.count, impl_->classes, 4, geometry.grid_height, geometry.grid_width}, impl_->device);
  return targets;
}

Loss DetectionLoss::compute(const at::Tensor& bbox, const at::Tensor& cov_logits, const at::Tensor& cov,
                            const Targets& targets, bool over_ranks) const {
  const Impl& impl = *impl_;
  tensor::RankMean* const ranks = over_ranks ? impl.options.ranks : nullptr;
  const std::int64_t h = impl.options.geometry.grid_height, w = impl.options.geometry.grid_width;
  tensor::check_shape(bbox, {-1, 4 * impl.classes, h, w}, "bbox");
  tensor::check_shape(cov_logits, {bbox.size(0), impl.classes, h, w}, "cov_logits");
  if (task_aligned()) {
    const TaskAlignedCosts costs =
        task_aligned_costs(bbox, cov_logits, targets.truths, impl.options.geometry, impl.options.coding,
                           impl.options.cost.task_aligned(), ranks);
    return {costs.total, costs.class_costs};
  }
  tensor::check_shape(targets.coverage, {bbox.size(0), impl.classes, h, w}, "coverage target");
  const auto masked = [](const at::Tensor& cost, const at::Tensor& mask) {
    return mask.defined() ? cost.mul(mask) : cost;
  };
  const at::Tensor coverage_cost =
      masked(impl.coverage_cost(cov_logits, cov, targets.coverage), targets.coverage_mask);
  const at::Tensor box_cost = masked(impl.box_cost(bbox, targets), targets.box_mask);
  const at::Tensor means = at::stack(
      {impl.reduce(coverage_cost, targets.coverage, ranks), impl.reduce(box_cost, targets.box_weight, ranks)},
      1);
  return {means.mul(impl.factors).sum(), means.detach()};
}

void DetectionLoss::add_costs(const Loss& loss) {
  const at::NoGradGuard no_grad;
  impl_->cost_sums.add_(loss.mean_costs);
}

std::vector<PerObjective> DetectionLoss::take_cost_sums() {
  const std::vector<float> values = tensor::to_values(impl_->cost_sums);
  impl_->cost_sums.zero_();
  std::vector<PerObjective> sums;
  for (std::size_t i = 0; i < values.size(); i += kObjectives) sums.push_back({values[i], values[i + 1]});
  return sums;
}

void DetectionLoss::update_weights(const std::vector<PerObjective>& cost_sums) {
  impl_->weighting.update(cost_sums);
  impl_->refresh_factors();
}

const AutoWeighting& DetectionLoss::weighting() const {
  return impl_->weighting;
}

std::vector<double> DetectionLoss::state() const {
  std::vector<double> state = impl_->weighting.state();
  for (const float sum : tensor::to_values(impl_->cost_sums)) state.push_back(sum);
  return state;
}

void DetectionLoss::set_state(const std::vector<double>& state) {
  const auto half = static_cast<std::size_t>(impl_->classes * kObjectives);
  MASKFIT_CHECK(state.size() == 2 * half, "{} numbers for {} classes", state.size(), impl_->classes);
  const auto middle = state.begin() + static_cast<std::ptrdiff_t>(half);
  impl_->weighting.set_state({state.begin(), middle});
  impl_->refresh_factors();
  const std::vector<float> sums(middle, state.end());
  impl_->cost_sums.copy_(tensor::from_values(sums, {impl_->classes, kObjectives}, impl_->device));
}

}  // namespace maskfit::loss
