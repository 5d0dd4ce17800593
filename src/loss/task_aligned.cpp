#include "loss/task_aligned_costs.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "loss/assign_cuda.h"
#include "tensor/array.h"
#ifdef MASKFIT_WITH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace maskfit::loss {
namespace {

constexpr double kTinyArea = 1e-7;

at::Tensor edge(const at::Tensor& boxes, int which) {
  return boxes.select(-1, which);
}

// Intersection over union of [..., 4] boxes; with `enclosing`, also width and height of the box around both.
struct Overlap {
  at::Tensor iou, enclosing_width, enclosing_height;
};

Overlap overlap(const at::Tensor& a, const at::Tensor& b, bool enclosing) {
  const at::Tensor width =
      (at::minimum(edge(a, 2), edge(b, 2)) - at::maximum(edge(a, 0), edge(b, 0))).clamp_min(0);
  const at::Tensor height =
      (at::minimum(edge(a, 3), edge(b, 3)) - at::maximum(edge(a, 1), edge(b, 1))).clamp_min(0);
  const at::Tensor both = width * height;
  const at::Tensor area_a = (edge(a, 2) - edge(a, 0)).clamp_min(0) * (edge(a, 3) - edge(a, 1)).clamp_min(0);
  const at::Tensor area_b = (edge(b, 2) - edge(b, 0)) * (edge(b, 3) - edge(b, 1));
  Overlap result;
  result.iou = both / (area_a + area_b - both + kTinyArea);
  if (enclosing) {
    result.enclosing_width = at::maximum(edge(a, 2), edge(b, 2)) - at::minimum(edge(a, 0), edge(b, 0));
    result.enclosing_height = at::maximum(edge(a, 3), edge(b, 3)) - at::minimum(edge(a, 1), edge(b, 1));
  }
  return result;
}

// Reference points of all cells, row by row: [L] each.
struct Points {
  at::Tensor x, y;
};

Points cell_points(const boxes::GridGeometry& geometry, const targets::BoxCoding& coding,
                   const at::Tensor& like) {
  const auto options = like.options().dtype(at::kFloat);
  const at::Tensor columns =
      at::arange(geometry.grid_width, options).mul_(geometry.stride_x()).add_(coding.offset);
  const at::Tensor rows =
      at::arange(geometry.grid_height, options).mul_(geometry.stride_y()).add_(coding.offset);
  return {columns.repeat({geometry.grid_height}), rows.repeat_interleave(geometry.grid_width)};
}

// [N][M][L] bool: the cell's point lies within `half` (at least `least`) of the box's centre on both axes.
at::Tensor points_inside(const at::Tensor& boxes, const Points& points, float least_x, float least_y) {
  const at::Tensor center_x = (edge(boxes, 0) + edge(boxes, 2)).mul_(0.5).unsqueeze(-1);
  const at::Tensor center_y = (edge(boxes, 1) + edge(boxes, 3)).mul_(0.5).unsqueeze(-1);
  const at::Tensor half_x = (edge(boxes, 2) - edge(boxes, 0)).mul_(0.5).clamp_min_(least_x).unsqueeze(-1);
  const at::Tensor half_y = (edge(boxes, 3) - edge(boxes, 1)).mul_(0.5).clamp_min_(least_y).unsqueeze(-1);
  return (points.x - center_x).abs_().le(half_x).logical_and_((points.y - center_y).abs_().le(half_y));
}

// What each truth's own class predicts in every cell: x [N][C][L(,4)] -> [N][M][L(,4)].
at::Tensor of_class(const at::Tensor& x, const at::Tensor& classes) {
  auto shape = x.sizes().vec();
  shape[1] = classes.size(1);
  at::Tensor index = classes.unsqueeze(-1);
  while (index.dim() < x.dim()) index = index.unsqueeze(-1);
  return x.gather(1, index.expand(shape));
}

#ifdef MASKFIT_WITH_CUDA
Assignment assign_on_gpu(const at::Tensor& decoded, const at::Tensor& cov, const TruthTensors& truths,
                         const boxes::GridGeometry& geometry, const targets::BoxCoding& coding,
                         const spec::CostFunctionConfig::TaskAligned& config) {
  const std::int64_t pictures = decoded.size(0), cells = geometry.cells();
  AssignProblem problem;
  problem.pictures = static_cast<int>(pictures);
  problem.classes = static_cast<int>(decoded.size(1));
  problem.slots = static_cast<int>(truths.classes.size(1));
  problem.grid_width = geometry.grid_width;
  problem.grid_height = geometry.grid_height;
  problem.stride_x = geometry.stride_x();
  problem.stride_y = geometry.stride_y();
  problem.offset = coding.offset;
  problem.least_x = config.min_radius() * geometry.stride_x();
  problem.least_y = config.min_radius() * geometry.stride_y();
  problem.coverage_power = config.coverage_power();
  problem.iou_power = config.iou_power();
  problem.top_k = static_cast<int>(config.top_k());
  const auto floats = decoded.options().dtype(at::kFloat);
  Assignment result;
  result.quality = at::empty({pictures, cells}, floats);
  result.boxes = at::empty({pictures, cells, 4}, floats);
  result.classes = at::empty({pictures, cells}, floats.dtype(at::kLong));
  result.background = at::empty({pictures, cells}, floats);
  const at::Tensor scratch = at::empty({assign_scratch_floats(problem)}, floats);
  const at::Tensor boxes_in = decoded.contiguous(), cov_in = cov.contiguous();
  const at::Tensor truth_boxes = truths.boxes.contiguous(), classes = truths.classes.contiguous();
  const at::Tensor objects = truths.objects.contiguous(), ignored = truths.ignored.contiguous();
  const char* failure =
      assign_cuda(problem,
                  {boxes_in.data_ptr<float>(), cov_in.data_ptr<float>(), truth_boxes.data_ptr<float>(),
                   classes.data_ptr<std::int64_t>(), objects.data_ptr<bool>(), ignored.data_ptr<bool>()},
                  {result.quality.data_ptr<float>(), result.boxes.data_ptr<float>(),
                   result.classes.data_ptr<std::int64_t>(), result.background.data_ptr<float>(),
                   scratch.data_ptr<float>()},
                  c10::cuda::getCurrentCUDAStream(decoded.device().index()).stream());
  if (failure) {
    throw base::Error(base::ExitCode::kFailed, fmt::format("the GPU refused a kernel: {}", failure));
  }
  return result;
}
#endif

}  // namespace

PaddedTruths pad_truths(const std::vector<boxes::Truths>& truths_in_network) {
  PaddedTruths padded;
  padded.pictures = static_cast<std::int64_t>(truths_in_network.size());
  padded.slots = 1;
  for (const auto& truths : truths_in_network) {
    padded.slots = std::max(padded.slots, static_cast<std::int64_t>(truths.size()));
  }
  const auto count = static_cast<std::size_t>(padded.pictures * padded.slots);
  padded.boxes.resize(count * 4);
  padded.classes.resize(count);
  padded.kinds.resize(count);
  for (std::size_t n = 0; n < truths_in_network.size(); ++n) {
    for (std::size_t m = 0; m < truths_in_network[n].size(); ++m) {
      const boxes::Truth& truth = truths_in_network[n][m];
      const std::size_t slot = n * static_cast<std::size_t>(padded.slots) + m;
      // A box without an area has no IoU to learn from; as an ignore region it has no cells.
      if (truth.box.area() <= 0) continue;
      const float edges[4] = {truth.box.x1, truth.box.y1, truth.box.x2, truth.box.y2};
      std::copy_n(edges, 4, padded.boxes.begin() + static_cast<std::ptrdiff_t>(slot * 4));
      padded.classes[slot] = truth.ignore ? 0 : truth.class_index;
      padded.kinds[slot] = truth.ignore ? -1.0f : 1.0f;
    }
  }
  return padded;
}

TruthTensors to_device(const PaddedTruths& truths, c10::Device device) {
  const std::vector<std::int64_t> shape = {truths.pictures, truths.slots};
  const auto copy = [&](const void* data, at::ScalarType type, std::vector<std::int64_t> sizes) {
    // from_blob does not own the numbers, but send() has copied them when it returns.
    return tensor::send(at::from_blob(const_cast<void*>(data), sizes, at::TensorOptions().dtype(type)),
                        device);
  };
  const at::Tensor kinds = copy(truths.kinds.data(), at::kFloat, shape);
  return {copy(truths.boxes.data(), at::kFloat, {truths.pictures, truths.slots, 4}),
          copy(truths.classes.data(), at::kLong, shape), kinds.gt(0), kinds.lt(0)};
}

at::Tensor decode_cells(const at::Tensor& bbox, const boxes::GridGeometry& geometry,
                        const targets::BoxCoding& coding) {
  const std::int64_t pictures = bbox.size(0);
  const at::Tensor distance = bbox.reshape({pictures, -1, 4, geometry.cells()}) * coding.scale;
  const Points points = cell_points(geometry, coding, bbox);
  return at::stack({points.x - distance.select(2, 0), points.y - distance.select(2, 1),
                    points.x + distance.select(2, 2), points.y + distance.select(2, 3)},
                   -1);
}

at::Tensor complete_iou_cost(const at::Tensor& predicted, const at::Tensor& truth) {
  const Overlap both = overlap(predicted, truth, true);
  const at::Tensor dx = edge(predicted, 0) + edge(predicted, 2) - edge(truth, 0) - edge(truth, 2);
  const at::Tensor dy = edge(predicted, 1) + edge(predicted, 3) - edge(truth, 1) - edge(truth, 3);
  const at::Tensor distance = (dx.square() + dy.square()) * 0.25;
  const at::Tensor diagonal = both.enclosing_width.square() + both.enclosing_height.square() + kTinyArea;
  const auto aspect = [](const at::Tensor& boxes) {
    return at::atan((edge(boxes, 2) - edge(boxes, 0)).clamp_min(0) /
                    ((edge(boxes, 3) - edge(boxes, 1)).clamp_min(0) + 1e-4));
  };
  constexpr double kScale = 4.0 / (std::numbers::pi * std::numbers::pi);
  const at::Tensor difference = (aspect(truth) - aspect(predicted)).square() * kScale;
  const at::Tensor weight = (difference / (difference - both.iou + 1 + kTinyArea)).detach();
  return 1 - both.iou + distance / diagonal + weight * difference;
}

Assignment assign_task_aligned(const at::Tensor& decoded, const at::Tensor& cov, const TruthTensors& truths,
                               const boxes::GridGeometry& geometry, const targets::BoxCoding& coding,
                               const spec::CostFunctionConfig::TaskAligned& config) {
  const at::NoGradGuard no_grad;
#ifdef MASKFIT_WITH_CUDA
  if (decoded.is_cuda() && geometry.cells() <= kMostAssignedCells) {
    return assign_on_gpu(decoded, cov, truths, geometry, coding, config);
  }
#endif
  const Points points = cell_points(geometry, coding, decoded);
  const float radius = config.min_radius();
  const at::Tensor inside =
      points_inside(truths.boxes, points, radius * geometry.stride_x(), radius * geometry.stride_y())
          .logical_and_(truths.objects.unsqueeze(-1));
  const at::Tensor iou =
      overlap(of_class(decoded, truths.classes), truths.boxes.unsqueeze(2), false).iou.clamp_(0.01, 1);
  const at::Tensor coverage = of_class(cov.flatten(2), truths.classes);
  at::Tensor align = coverage.pow(config.coverage_power()).mul_(iou.pow(config.iou_power())).mul_(inside);

  const std::int64_t top_k = std::min<std::int64_t>(config.top_k(), geometry.cells());
  const at::Tensor least = std::get<0>(align.topk(top_k, -1)).narrow(-1, top_k - 1, 1);
  at::Tensor chosen = align.ge(least).logical_and_(inside);
  // A cell belongs to the truth of highest IoU among those that chose it.
  auto [best_iou, best] = iou.masked_fill(chosen.logical_not(), -1.0).max(1);
  const at::Tensor taken = best_iou.gt(0);
  const at::Tensor slots = at::arange(truths.classes.size(1), best.options());
  chosen = chosen.logical_and(best.unsqueeze(1).eq(slots.view({1, -1, 1})));

  align = align * chosen;
  const at::Tensor quality =
      (align / (align.amax({-1}, true) + 1e-12) * (iou * chosen).amax({-1}, true)).amax({1});
  Assignment result;
  result.quality = quality * taken;
  result.boxes = truths.boxes.gather(1, best.unsqueeze(-1).expand({-1, -1, 4}));
  result.classes = truths.classes.gather(1, best);
  const at::Tensor ignored =
      points_inside(truths.boxes, points, 0, 0).logical_and_(truths.ignored.unsqueeze(-1)).any(1);
  result.background = ignored.logical_and(taken.logical_not()).logical_not().to(at::kFloat);
  return result;
}

at::Tensor shared_count(const at::Tensor& count, tensor::RankMean* ranks) {
  if (ranks == nullptr) return count.clamp_min(1);
  const at::Tensor mean = count.detach().clone();
  ranks->mean(mean);
  return mean.clamp_min(1.0 / ranks->ranks());
}

TaskAlignedCosts task_aligned_costs(const at::Tensor& bbox, const at::Tensor& cov_logits,
                                    const TruthTensors& truths, const boxes::GridGeometry& geometry,
                                    const targets::BoxCoding& coding,
                                    const spec::CostFunctionConfig::TaskAligned& config,
                                    tensor::RankMean* ranks) {
  const std::int64_t classes = cov_logits.size(1);
  const at::Tensor decoded = decode_cells(bbox, geometry, coding);
  const Assignment assigned =
      assign_task_aligned(decoded.detach(), cov_logits.detach().sigmoid(), truths, geometry, coding, config);
  const at::Tensor positives = shared_count(assigned.quality.sum(), ranks);

  // Coverage: [N][C][L]. softplus(z) - z * t is the cross entropy of sigmoid(z), in a form that cannot
  // overflow.
  const at::Tensor class_index = at::arange(classes, assigned.classes.options()).view({1, -1, 1});
  const at::Tensor target = assigned.quality.unsqueeze(1) * assigned.classes.unsqueeze(1).eq(class_index);
  const at::Tensor logits = cov_logits.flatten(2);
  const at::Tensor entropy = (at::softplus(logits) - logits * target) * assigned.background.unsqueeze(1);
  const at::Tensor coverage_cost =
      entropy.sum(at::IntArrayRef{0, 2}) * (config.coverage_weight() / positives);

  // Boxes: cells that answer for nothing compare a fixed box with itself, so that no NaN can come from them.
  const at::Tensor answers = assigned.quality.gt(0).unsqueeze(1).unsqueeze(-1);
  const at::Tensor unit = at::arange(4, decoded.options()).ge(2).to(at::kFloat).mul(10);
  const at::Tensor truth = at::where(answers, assigned.boxes.unsqueeze(1), unit);
  const at::Tensor predicted = at::where(answers, decoded, unit);
  const at::Tensor sides = (truth.narrow(-1, 2, 2) - truth.narrow(-1, 0, 2)).repeat({1, 1, 1, 2});
  const at::Tensor relative = ((predicted - truth).abs() / sides).mean(-1).clamp_max(10);
  const at::Tensor cost =
      complete_iou_cost(predicted, truth) * config.ciou_weight() + relative * config.l1_weight();
  const at::Tensor weight = assigned.quality.unsqueeze(1) / (positives * static_cast<double>(classes));
  const at::Tensor box_cost = (cost * weight).sum(at::IntArrayRef{0, 2});

  return {coverage_cost.sum() + box_cost.sum(), at::stack({coverage_cost, box_cost}, -1).detach(), positives};
}

}  // namespace maskfit::loss
