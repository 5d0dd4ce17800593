#pragma once

// Operations over lists of tensors. LibTorch 1.13 (Debian) and 2.x differ in which of them exist and on which
// device; the differences live here. All run without recording gradients.

#include <ATen/core/Tensor.h>

#include <vector>

namespace maskfit::tensor {

// destinations[i] <- sources[i], with conversion; one kernel for all of them where LibTorch has it (2.x).
void copy_all(const std::vector<at::Tensor>& destinations, const std::vector<at::Tensor>& sources);

// a[i] <- a[i] + weight * (b[i] - a[i]).
void lerp_all(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b, double weight);

// tensors[i] <- tensors[i] * factor; a scalar tensor on the same device, so that nobody waits for its value.
void scale_all(const std::vector<at::Tensor>& tensors, const at::Tensor& factor);

// tensors[i] <- tensors[i] * factor. False when any value is infinite or NaN; waits for the device.
bool scale_all_and_check_finite(const std::vector<at::Tensor>& tensors, double factor);

// -1, 0 or 1 for every value.
std::vector<at::Tensor> signs_of(const std::vector<at::Tensor>& tensors);

// a [m][k] times b [k][n], bfloat16 both; the sums are float32 and stay so.
at::Tensor multiply_to_float(const at::Tensor& a, const at::Tensor& b);

// The Euclidean norm over all values of all tensors, a scalar tensor. REQUIRES at least one tensor.
at::Tensor norm_of_all(const std::vector<at::Tensor>& tensors);

}  // namespace maskfit::tensor
