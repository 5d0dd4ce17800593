#include "deploy/network_runner.h"

#include <ATen/ATen.h>

#include <cstring>

#include "base/error.h"
#include "model/detector.h"
#include "model/outputs.h"
#include "tensor/device.h"

namespace maskfit::deploy {

struct NetworkRunner::Impl {
  network::Shape input;
  c10::Device device;
  model::Detector detector;
};

NetworkRunner::NetworkRunner(network::Network network, const std::string& device)
    : impl_(new Impl{network.input, tensor::device_from_name(device),
                     model::Detector(network, device, model::Precision::kFloat32)}) {}
NetworkRunner::~NetworkRunner() = default;

std::vector<exporting::Grids> NetworkRunner::run(const std::vector<std::span<const float>>& pictures) {
  const network::Shape& in = impl_->input;
  const auto count = static_cast<std::int64_t>(pictures.size());
  at::Tensor pixels = at::empty({count, in.channels, in.height, in.width}, at::kFloat);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::span<const float> picture = pictures[static_cast<std::size_t>(i)];
    MASKFIT_CHECK(static_cast<std::int64_t>(picture.size()) == pixels[i].numel(), "{} pixels",
                  picture.size());
    std::memcpy(pixels[i].data_ptr<float>(), picture.data(), picture.size_bytes());
  }
  const model::Outputs outputs = impl_->detector.forward(pixels.to(impl_->device), /*training=*/false);
  const at::Tensor cov = outputs.cov.to(at::kCPU).contiguous(), bbox = outputs.bbox.to(at::kCPU).contiguous();
  std::vector<exporting::Grids> grids(pictures.size());
  for (std::size_t i = 0; i < grids.size(); ++i) {
    exporting::Grids& g = grids[i];
    g.classes = static_cast<int>(cov.size(1));
    g.geometry = {in.width, in.height, static_cast<int>(cov.size(3)), static_cast<int>(cov.size(2))};
    const std::size_t size =
        static_cast<std::size_t>(g.classes) * static_cast<std::size_t>(g.geometry.cells());
    g.coverage.assign(cov.data_ptr<float>() + i * size, cov.data_ptr<float>() + (i + 1) * size);
    g.box.assign(bbox.data_ptr<float>() + i * 4 * size, bbox.data_ptr<float>() + (i + 1) * 4 * size);
  }
  return grids;
}

}  // namespace maskfit::deploy
