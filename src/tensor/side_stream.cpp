#include "tensor/side_stream.h"

#ifdef MASKFIT_WITH_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace maskfit::tensor {

#ifdef MASKFIT_WITH_CUDA

struct Moment::Impl {
  mutable at::cuda::CUDAEvent event;
};

Moment::Moment(c10::Device device) {
  if (device.is_cpu()) return;
  impl_ = std::make_unique<Impl>();
  impl_->event.record(c10::cuda::getCurrentCUDAStream(device.index()));
}

void Moment::wait() const {
  if (impl_) impl_->event.synchronize();
}

struct SideStream::Impl {
  explicit Impl(c10::Device device)
      : guard(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}
  c10::cuda::CUDAStreamGuard guard;
};

SideStream::SideStream(c10::Device device) {
  if (!device.is_cpu()) impl_ = std::make_unique<Impl>(device);
}

#else

struct Moment::Impl {};
Moment::Moment(c10::Device) {}
void Moment::wait() const {}
struct SideStream::Impl {};
SideStream::SideStream(c10::Device) {}

#endif

Moment::~Moment() = default;
Moment::Moment(Moment&&) noexcept = default;
Moment& Moment::operator=(Moment&&) noexcept = default;
SideStream::~SideStream() = default;

}  // namespace maskfit::tensor
