#pragma once

// LibTorch 1.13 (Debian) and 2.x differ in a few calls; the differences live here.

#include <ATen/core/Tensor.h>

#include <vector>

namespace maskfit::tensor {

// destinations[i] <- sources[i], with conversion; one kernel for all of them where LibTorch has it (2.x).
void copy_all(const std::vector<at::Tensor>& destinations, const std::vector<at::Tensor>& sources);

}  // namespace maskfit::tensor
