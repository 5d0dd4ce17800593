#include "tensor/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace maskfit::tensor {
namespace {

// The number in "cuda:1"; 0 for "cuda"; -1 for anything else.
int gpu_index(const std::string& name) {
  constexpr std::string_view kCuda = "cuda";
  if (name == kCuda) return 0;
  long long index = -1;
  const bool numbered = name.starts_with("cuda:") && base::parse_int(name.substr(kCuda.size() + 1), &index);
  return numbered && index >= 0 && index < 128 ? static_cast<int>(index) : -1;
}

// For each convolution. Four give the speed of ten in less time: docs/benchmarks.md.
constexpr int kAlgorithmsTried = 4;

}  // namespace

c10::Device device_from_name(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::kCPU);
  const int index = gpu_index(name);
  if (index < 0) {
    throw base::Error(base::ExitCode::kUsage, fmt::format("'{}' is no device", name), "--device",
                      "use cpu, cuda or cuda:<number>");
  }
  const int count = gpu_count();
  if (count == 0) {
    throw base::Error(base::ExitCode::kMachine,
                      fmt::format("'{}': there is no GPU that this build can use", name), "--device",
                      "run `maskfit doctor` for the reason, or use cpu");
  }
  if (index >= count) {
    throw base::Error(base::ExitCode::kMachine, fmt::format("'{}': this machine has {} GPU(s)", name, count),
                      "--device", fmt::format("use a number from 0 to {}", count - 1));
  }
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setBenchmarkLimitCuDNN(kAlgorithmsTried);
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

int gpu_count() {
  return at::hasCUDA() ? static_cast<int>(at::detail::getCUDAHooks().getNumGPUs()) : 0;
}

void synchronise(c10::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl guard(device.type());
  guard.getStream(device).synchronize();
}

void wake_up(c10::Device device) {
  if (device.is_cpu()) return;
  const at::NoGradGuard no_grad;
  // A convolution and a product, small, of the types that training uses.
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const auto options = at::TensorOptions(device).dtype(type);
    const at::Tensor pixels = at::zeros({1, 8, 16, 16}, options).contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor kernel = at::zeros({8, 8, 3, 3}, options).contiguous(at::MemoryFormat::ChannelsLast);
    at::conv2d(pixels, kernel);
    at::matmul(kernel.reshape({8, -1}), kernel.reshape({8, -1}).t());
  }
  synchronise(device);
}

}  // namespace maskfit::tensor
