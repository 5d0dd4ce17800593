#pragma once

// The loss of a detector: what each head costs each class, and their sum (spec section 3). Which costs,
// weights and targets is the spec's choice.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boxes/box.h"
#include "loss/auto_weighting.h"
#include "loss/task_aligned.h"
#include "spec/experiment.pb.h"
#include "targets/stamp.h"
#include "tensor/rank_mean.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::loss {

struct Loss;     // loss/loss_tensors.h
struct Targets;  // loss/loss_tensors.h

// The targets of a batch as they come from the loader. N pictures, C classes, H x W cells. With task_aligned
// only `truths` is read; without it only the rest.
struct HostTargets {
  std::int64_t count = 0;
  std::span<const float> coverage;       // [N][C][H][W]
  std::span<const float> coverage_norm;  // [N][C][H][W]
  std::span<const float> box;            // [N][C][4][H][W]
  std::span<const float> coverage_mask;  // [N][C][H][W] or empty: 1
  std::span<const float> box_mask;       // likewise
  const PaddedTruths* truths = nullptr;
};

struct LossOptions {
  spec::CostFunctionConfig cost;
  boxes::GridGeometry geometry;
  targets::BoxCoding coding;
  std::string device = "cpu";
  // Sums over positives are those of all ranks, so that the mean of the ranks' losses is the loss of all
  // their pictures together; null: one rank. Must outlive the loss.
  tensor::RankMean* ranks = nullptr;
};

class DetectionLoss {
 public:
  // Throws base::Error (kRefused) for a class whose objectives are not cov and bbox.
  explicit DetectionLoss(const LossOptions& options);
  ~DetectionLoss();
  DetectionLoss(DetectionLoss&&) noexcept;
  DetectionLoss& operator=(DetectionLoss&&) noexcept;

  // Whether targets are made from truths and predictions in every step instead of rasterised before.
  bool task_aligned() const;
  Targets upload(const HostTargets& host) const;

  // bbox: [N][4C][H][W]; cov_logits, cov: [N][C][H][W], float32 on the device. With task_aligned the loss is
  // task_aligned_costs(). Otherwise, with means over all cells or sums over them divided by max(1, sum of the
  // target coverage, or of the box weight) as the spec's normalization says:
  //   cost_{c,cov} = mask * coverage cost,  cost_{c,bbox} = mask * box weight * sum of the box costs
  //   task = sum over c, o of class_weight_c * lambda_{c,o} * cost_{c,o}
  // over_ranks false: of these pictures alone, without a word to other ranks.
  Loss compute(const at::Tensor& bbox, const at::Tensor& cov_logits, const at::Tensor& cov,
               const Targets& targets, bool over_ranks = true) const;

  // Auto-weighting: add the costs of every training step, take their sums at the end of the epoch (waits for
  // the device, begins again at 0), average them over the ranks, update.
  void add_costs(const Loss& loss);
  std::vector<PerObjective> take_cost_sums();
  void update_weights(const std::vector<PerObjective>& cost_sums);
  const AutoWeighting& weighting() const;

  // For checkpoints: the lambdas, then the cost sums; 4 numbers a class.
  std::vector<double> state() const;
  void set_state(const std::vector<double>& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::loss
