#pragma once

// network::Network made executable through LibTorch.

#include <memory>
#include <string>
#include <vector>

#include "network/network.h"
#include "tensor/tensor_fwd.h"

namespace maskfit::model {

enum class Precision { kFloat32, kBfloat16, kFloat16 };
Precision precision_from_name(const std::string& name);  // fp32, bf16, fp16; throws base::Error (kUsage)

struct Outputs;  // defined in model/outputs.h, which includes LibTorch

// Thread-compatible: one thread at a time.
class Detector {
 public:
  // device: "cpu", "cuda", "cuda:1". Weights are kept in float32 (master copies); with bf16/fp16 convolutions compute in
  // that type, batch-norm statistics and the heads' outputs stay float32.
  Detector(network::Network network, const std::string& device, Precision precision);
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  // images: [N][3][H][W] float32 0..1 on the detector's device.
  // training: batch statistics, gradients recorded, moving statistics updated as the reference does
  // (m <- momentum * m + (1 - momentum) * batch, biased variance). Otherwise: moving statistics, no gradients.
  Outputs forward(const at::Tensor& images, bool training);

  // Trainable arrays, in node order: names like "conv1/kernel" and the tensors beside them.
  std::vector<std::string> parameter_names() const;
  std::vector<at::Tensor> parameters() const;
  // Moving statistics likewise.
  std::vector<std::string> buffer_names() const;
  std::vector<at::Tensor> buffers() const;

  // The network with the present weights copied back.
  network::Network network() const;
  const std::string& device() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskfit::model
