#pragma once

// network::Network made executable through LibTorch.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/network.h"
#include "tensor/rank_mean.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::model {

enum class Precision { kFloat32, kBfloat16, kFloat16 };
Precision precision_from_name(const std::string& name);  // fp32, bf16, fp16; throws base::Error (kUsage)

// Who computes batch norms and the first convolution in training. kBest: the kernels of model/fused_norm.h
// and model/stem.h on a GPU, LibTorch elsewhere. kLibTorch: LibTorch everywhere. kFused: on a CPU, too,
// through the plain functions that define the kernels; slow, float32, for tests.
enum class Kernels { kBest, kLibTorch, kFused };

struct Outputs;  // defined in model/outputs.h, which includes LibTorch

struct DetectorOptions {
  std::string device = "cpu";  // "cpu", "cuda", "cuda:1"
  // Weights are kept in float32 (master copies). With bf16/fp16 the backbone's convolutions and activations
  // have that type; batch-norm statistics and parameters and the heads stay float32. fp16 needs a GPU.
  Precision precision = Precision::kFloat32;
  // Batch norms use and keep their moving statistics in training, too; gamma and beta train all the same.
  bool freeze_bn = false;
  // Blocks (network::block_of) whose convolutions do not train; their batch norms do.
  std::vector<int> freeze_blocks = {};
  Kernels kernels = Kernels::kBest;
  // Batch norms take the statistics of all ranks' pictures together, not of this rank's alone; null: no. Then
  // LibTorch computes them. Must outlive the detector.
  tensor::RankMean* norm_over = nullptr;
};

// Thread-compatible: one thread at a time.
class Detector {
 public:
  // Throws base::Error when the machine lacks the device or the precision, or when freeze_blocks names no
  // block.
  Detector(network::Network network, const DetectorOptions& options);
  Detector(network::Network network, const std::string& device, Precision precision);
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  // images: [N][3][H][W] float32 0..1 on the detector's device, any memory format.
  // training: batch statistics, what backward() needs is kept, moving statistics updated as the reference
  // does (m <- momentum * m + (1 - momentum) * batch, biased variance); the outputs are leaves that record
  // gradients, so a loss is computed from them with autograd. Otherwise: moving statistics, nothing recorded.
  Outputs forward(const at::Tensor& images, bool training);

  // The gradient of `loss`, a scalar computed from the outputs of the last forward(images, true), with
  // respect to every trainable array: float32, in the order and shapes of parameters(). Uses up what that
  // forward kept. Written out node by node rather than left to autograd: the bias under a batch norm costs
  // nothing, buffers are reused, and kernels can be fused without an autograd class each.
  std::vector<at::Tensor> backward(const at::Tensor& loss);

  // The same in the types that they were computed in: the precision's for kernels below the heads. Saves a
  // pass.
  std::vector<at::Tensor> backward_as_computed(const at::Tensor& loss);

  // Called in backward() as soon as the gradient of parameters()[index] is complete, while others are still
  // being computed; not for an array whose gradient is always zero. The order is the same in every step.
  using GradientReady = std::function<void(std::size_t index, const at::Tensor& gradient)>;
  void on_gradient(GradientReady ready);

  // The copies of parameters() that the convolutions run with, in the precision's type; undefined where an
  // array has none of its own. forward() makes them anew unless somebody else keeps them up to date.
  std::vector<at::Tensor> compute_copies() const;
  void set_copies_kept(bool kept);
  // Makes them anew now, whoever keeps them: after parameters were replaced behind the keeper's back.
  void refresh_copies();

  // Trainable arrays, in node order: names like "conv1/kernel" and the tensors beside them. Change them in
  // place.
  std::vector<std::string> parameter_names() const;
  std::vector<at::Tensor> parameters() const;
  // Arrays of frozen convolutions likewise; a regulariser still counts them.
  std::vector<std::string> frozen_names() const;
  std::vector<at::Tensor> frozen() const;
  // Moving statistics likewise.
  std::vector<std::string> buffer_names() const;
  std::vector<at::Tensor> buffers() const;

  // Batch norms that the fused kernels do not take in training (a number of channels that is no multiple of
  // 8, freeze_bn, LibTorch asked for): the same numbers, slower.
  std::vector<std::string> unfused_norms() const;

  // Folds every batch norm into the convolution before it: faster inference, the same numbers up to rounding.
  // Afterwards forward(images, true) is an error and parameters() no longer have an effect; network() still
  // gives the weights.
  void fold_for_inference();

  // The network with the present weights copied back.
  network::Network network() const;
  const std::string& device() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::model
