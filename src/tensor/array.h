#pragma once

// The border between our arrays (float vectors with a shape) and at::Tensor.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace maskfit::tensor {

// A float32 tensor on `device` with a copy of the values, row-major. Throws base::CheckFailed when there are
// not as many values as the shape promises.
at::Tensor from_values(std::span<const float> values, at::IntArrayRef shape, c10::Device device = c10::kCPU);

// A copy on `device`. The host does not wait for a GPU: the numbers go through pinned memory.
at::Tensor send(const at::Tensor& host, c10::Device device);

// The values in row-major order of the logical shape, whatever the tensor's memory format, type and device.
std::vector<float> to_values(const at::Tensor& tensor);

// One number on the CPU; waits for the device.
double to_number(const at::Tensor& scalar);

// Throws base::CheckFailed naming the tensor with both shapes. -1 stands for any size.
void check_shape(const at::Tensor& tensor, std::initializer_list<std::int64_t> shape, const char* name);

}  // namespace maskfit::tensor
