#pragma once

// Devices by name.

#include <c10/core/Device.h>

#include <string>

namespace maskfit::tensor {

// "cpu", "cuda" (the first GPU) or "cuda:1". Throws base::Error: kUsage for another name, kMachine with the
// reason and a remedy when there is no such GPU or this build has no CUDA. For a GPU it also turns on cuDNN's
// search for the fastest convolution algorithm, which pays because every batch of a run has one shape.
c10::Device device_from_name(const std::string& name);

// GPUs that LibTorch can use; 0 in a CPU build.
int gpu_count();

// Waits until the device has done all work given to it; nothing to do on a CPU. For timing and before reading
// memory that a kernel of ours wrote.
void synchronise(c10::Device device);

// Begins to use a GPU: its driver, LibTorch's kernels and cuDNN take seconds to load, which other work can
// cover when this runs on another thread. Nothing to do on a CPU.
void wake_up(c10::Device device);

}  // namespace maskfit::tensor
