#include "train/pixel_source.h"

#include <ATen/ATen.h>

#include "augment/warp_cuda.h"
#include "base/error.h"
#include "tensor/array.h"
#include "train/pixels.h"
#ifdef MASKFIT_WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace maskfit::train {
namespace {

class HostPixels : public PixelSource {
 public:
  explicit HostPixels(std::string device) : device_(std::move(device)) {}
  bool needs_host_pixels() const override { return true; }
  at::Tensor make(const loader::BatchPlan&, const loader::PixelBatch& pixels) override {
    return to_tensor(pixels, device_);
  }

 private:
  std::string device_;
};

#ifdef MASKFIT_WITH_CUDA

augment::PixelType pixel_type(model::Precision precision) {
  switch (precision) {
    case model::Precision::kBfloat16:
      return augment::PixelType::kBFloat16;
    case model::Precision::kFloat16:
      return augment::PixelType::kFloat16;
    case model::Precision::kFloat32:
      return augment::PixelType::kFloat32;
  }
  MASKFIT_CHECK(false, "precision={}", static_cast<int>(precision));
  return augment::PixelType::kFloat32;
}

at::ScalarType scalar_type(augment::PixelType type) {
  switch (type) {
    case augment::PixelType::kBFloat16:
      return at::kBFloat16;
    case augment::PixelType::kFloat16:
      return at::kHalf;
    case augment::PixelType::kFloat32:
      return at::kFloat;
  }
  return at::kFloat;
}

class ResidentPixels : public PixelSource {
 public:
  // canvases: [pictures][H][W][channels] on a GPU.
  ResidentPixels(at::Tensor canvases, model::Precision precision)
      : device_(canvases.device()), type_(pixel_type(precision)), canvases_(std::move(canvases)) {}

  bool needs_host_pixels() const override { return false; }

  at::Tensor make(const loader::BatchPlan& plan, const loader::PixelBatch&) override {
    const c10::cuda::CUDAGuard guard(device_);
    const augment::WarpBatch packed = augment::pack_plans(plan.plans, canvases_.size(0));
    const at::Tensor tiles = to_device(packed.tiles), items = to_device(packed.items);
    const int height = static_cast<int>(canvases_.size(1)), width = static_cast<int>(canvases_.size(2));
    const int channels = static_cast<int>(canvases_.size(3)), count = static_cast<int>(packed.items.size());
    at::Tensor images =
        at::empty({count, channels, height, width}, at::TensorOptions(device_).dtype(scalar_type(type_)),
                  at::MemoryFormat::ChannelsLast);
    const char* failure = augment::warp_cuda({.canvases = canvases_.data_ptr<std::uint8_t>(),
                                              .height = height,
                                              .width = width,
                                              .channels = channels},
                                             reinterpret_cast<const augment::WarpTile*>(tiles.data_ptr()),
                                             reinterpret_cast<const augment::WarpItem*>(items.data_ptr()),
                                             {.pixels = images.data_ptr(),
                                              .type = type_,
                                              .layout = augment::PixelLayout::kNhwc,
                                              .count = count,
                                              .height = height,
                                              .width = width,
                                              .channels = channels},
                                             c10::cuda::getCurrentCUDAStream(device_.index()).stream());
    if (failure)
      throw base::Error(base::ExitCode::kFailed, fmt::format("the GPU refused a kernel: {}", failure));
    return images;
  }

 private:
  // Plain numbers as bytes on the device.
  template <typename T>
  at::Tensor to_device(const std::vector<T>& values) const {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    return tensor::send(at::from_blob(const_cast<T*>(values.data()), {bytes}, at::kByte), device_);
  }

  c10::Device device_;
  augment::PixelType type_;
  at::Tensor canvases_;
};

#endif

}  // namespace

std::unique_ptr<PixelSource> make_pixel_source([[maybe_unused]] const loader::PictureSet& pictures,
                                               const std::string& device,
                                               [[maybe_unused]] model::Precision precision) {
#ifdef MASKFIT_WITH_CUDA
  if (at::Tensor canvases = resident_bytes(pictures, device); canvases.defined()) {
    return std::make_unique<ResidentPixels>(std::move(canvases), precision);
  }
#endif
  return std::make_unique<HostPixels>(device);
}

}  // namespace maskfit::train
