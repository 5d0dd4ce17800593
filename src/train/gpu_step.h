#pragma once

// A training step on a GPU, recorded once as a CUDA graph and replayed: forward, loss, backward, regulariser,
// judgement, clipping, Adam, average. The host launches one graph and waits for nothing.

#include <cstdint>
#include <functional>
#include <memory>

#include "loss/detection_loss.h"
#include "loss/regulariser.h"
#include "model/detector.h"
#include "tensor/tensor_fwd.h"
#include "train/ema.h"
#include "train/gradient_buckets.h"
#include "train/loss_scaling.h"
#include "train/optimizer.h"

namespace maskfit::train {

// What a step changes and reads. All must outlive it, and nobody else may replace their tensors.
struct StepParts {
  model::Detector& detector;
  loss::DetectionLoss& loss;
  const loss::Regulariser& regulariser;
  Optimizer& optimizer;
  WeightAverage* average = nullptr;  // may be null
  LossScaling* scaling = nullptr;    // may be null: none
  double clip_norm = 0;
  // Added to the loss, a scalar with gradient; may be empty.
  std::function<at::Tensor(const at::Tensor& images, const model::Outputs& outputs)> extra_cost = {};
  // Of several ranks; null: this one alone. The means are part of the recorded step.
  tensor::RankMean* mean = nullptr;
  GradientBuckets* buckets = nullptr;
  bool graph = true;  // false: the same kernels, launched one by one
};

class GpuStep {
 public:
  // False on a CPU and in a build without CUDA.
  static bool possible(const model::Detector& detector);

  explicit GpuStep(const StepParts& parts);
  ~GpuStep();

  // What the host decides for one step.
  struct Settings {
    double learning_rate = 0;
    double norm_limit = 0;  // a gradient of a larger norm, or not finite, changes no weight
    std::int64_t step = 0;  // finished steps after this one
  };
  // Returns [3 + 2C] on the device: task cost, regularisation, gradient norm, then the mean costs. Batches of
  // another number of pictures than the first's are computed without the graph.
  at::Tensor take(const at::Tensor& images, const loss::Targets& targets, const Settings& settings);

  // Waits for the device; brings `scaling` up to date.
  void read_scaling();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::train
