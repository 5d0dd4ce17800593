#include "train/pixels.h"

#include <ATen/ATen.h>

#include <cstring>

#include "base/parallel.h"
#include "tensor/device.h"
#ifdef MASKFIT_WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#endif

namespace maskfit::train {

#ifdef MASKFIT_WITH_CUDA
namespace {

constexpr double kShareOfFreeMemory = 0.5;     // the rest is for the network
constexpr std::int64_t kUploadedAtATime = 64;  // pictures

}  // namespace
#endif

at::Tensor canvas_bytes(const loader::PictureSet& pictures, std::int64_t first, std::int64_t count) {
  const auto [width, height] = pictures.canvas_size();
  at::Tensor bytes = at::empty({count, height, width, pictures.channels()}, at::kByte);
  const std::size_t size = static_cast<std::size_t>(pictures.channels()) * width * height;
  base::parallel_for(count, [&](std::int64_t i) {
    std::memcpy(bytes.data_ptr<std::uint8_t>() + i * size, pictures.canvas(first + i)->pixels.data(), size);
  });
  return bytes;
}

at::Tensor resident_bytes([[maybe_unused]] const loader::PictureSet& pictures,
                          [[maybe_unused]] const std::string& device) {
#ifdef MASKFIT_WITH_CUDA
  const c10::Device target = tensor::device_from_name(device);
  if (target.is_cpu() || !pictures.resident()) return {};
  const c10::cuda::CUDAGuard guard(target);
  std::size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return {};
  const auto [width, height] = pictures.canvas_size();
  const double wanted = static_cast<double>(pictures.size()) * width * height * pictures.channels();
  if (wanted > kShareOfFreeMemory * static_cast<double>(free_bytes)) return {};
  const at::Tensor bytes = at::empty({pictures.size(), height, width, pictures.channels()},
                                     at::TensorOptions(target).dtype(at::kByte));
  for (std::int64_t first = 0; first < pictures.size(); first += kUploadedAtATime) {
    const std::int64_t count = std::min(kUploadedAtATime, pictures.size() - first);
    bytes.narrow(0, first, count).copy_(canvas_bytes(pictures, first, count));
  }
  return bytes;
#else
  return {};
#endif
}

struct PlainPixels::Impl {
  const loader::PictureSet& pictures;
  std::string device;
  at::Tensor resident;  // undefined: the bytes come from the host each time
};

PlainPixels::PlainPixels(const loader::PictureSet& pictures, std::string device, bool keep)
    : impl_(std::make_unique<Impl>(Impl{pictures, std::move(device), {}})) {
  if (keep) impl_->resident = resident_bytes(pictures, impl_->device);
}

PlainPixels::~PlainPixels() = default;

at::Tensor PlainPixels::make(std::int64_t first, std::int64_t count) const {
  // Bytes travel to the device, a quarter of the floats; they become numbers there.
  const at::Tensor bytes =
      impl_->resident.defined()
          ? impl_->resident.narrow(0, first, count)
          : canvas_bytes(impl_->pictures, first, count).to(tensor::device_from_name(impl_->device));
  return bytes.permute({0, 3, 1, 2}).to(at::kFloat).div_(255.0).contiguous();
}

at::Tensor to_tensor(const loader::PixelBatch& pixels, const std::string& device) {
  // from_blob only borrows; the copy owns what it holds.
  const at::Tensor borrowed =
      at::from_blob(const_cast<float*>(pixels.values.data()),
                    {pixels.count, pixels.channels, pixels.height, pixels.width}, at::kFloat);
  const c10::Device target = tensor::device_from_name(device);
  return target.is_cpu() ? borrowed.clone() : borrowed.to(target);
}

}  // namespace maskfit::train
